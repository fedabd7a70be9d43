import APIProvider
import Benchmark
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Each run is of 1,000 events whose bytes are there, or of decoding their data. Names are "work, library": `ratios` pairs
// them by the work.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.throughput, .wallClock], timeUnits: .microseconds, warmupIterations: 5, maxDuration: .seconds(2))

    for size in [50, 500] {
        let data = Event.data(ofText: size)
        let events = Event.response(Data(repeatElement("data: \(String(decoding: data, as: UTF8.self))\n\n".utf8, count: 1000).joined()))
        let work = "an event with a text of \(size) bytes"
        Benchmark("\(work), APIProvider") { _ in
            for try await event in try ServerSentEvents(ByteStream(events), decoder: JSONDecoder()) { blackHole(event) }
        }
        Benchmark("\(work), JSONDecoder") { _ in
            for _ in 0..<1000 { blackHole(try JSONDecoder().decode(Event.self, from: data)) }
        }
    }
}

private struct Event: Codable {
    let id: String
    let model: String
    let created: Int
    let text: String

    static func data(ofText size: Int) -> Data {
        let event = Event(id: "completion-7", model: "small", created: 1_700_000_000, text: String(repeating: "word ", count: size / 5))
        return (try? JSONEncoder().encode(event)) ?? Data()
    }

    static func response(_ body: Data) -> APIResponse {
        guard let url = URL(string: "https://api.example.com/events"),
            let head = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["Content-Type": "text/event-stream"])
        else { fatalError("There is no response.") }
        return APIResponse(request: PreparedRequest(.get, url), httpResponse: head, data: body)
    }
}
