import APIProvider
import Benchmark
import Dispatch
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Each run is of 100 requests. Names are "work, library": `ratios` pairs them by the work.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.throughput, .wallClock], timeUnits: .microseconds, warmupIterations: 5, maxDuration: .seconds(2))

    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [Immediate.self]
    configuration.urlCache = nil
    let session = URLSession(configuration: configuration)
    let provider = DefaultAPIProvider(baseURL: Size.baseURL, configuration: configuration)

    let bare: @Sendable (Size, @escaping @Sendable () -> Void) -> Void = { size, done in
        session.dataTask(with: URLRequest(url: size.url)) { data, _, _ in
            blackHole(try? JSONDecoder().decode([Item].self, from: data ?? Data()))
            done()
        }.resume()
    }
    let provided: @Sendable (Size, @escaping @Sendable () -> Void) -> Void = { size, done in
        _ = provider.request(ItemsRequest(size: size)).subscribe {
            blackHole($0)
            done()
        }
    }
    for (library, send) in [("APIProvider", provided), ("URLSession", bare)] {
        Benchmark("2 KB, one at a time, \(library)") { _ in
            for _ in 0..<100 { wait(for: 1) { send(.small, $0) } }
        }
        Benchmark("2 KB, 100 at a time, \(library)") { _ in
            wait(for: 100) { send(.small, $0) }
        }
        Benchmark("100 KB, 100 at a time, \(library)") { _ in
            wait(for: 100) { send(.large, $0) }
        }
    }
}

/// Starts `work` so many times, and waits until all of it is done.
private func wait(for count: Int, _ work: (@escaping @Sendable () -> Void) -> Void) {
    let group = DispatchGroup()
    for _ in 0..<count {
        group.enter()
        work { group.leave() }
    }
    group.wait()
}

private enum Size: Int, Sendable {
    /// 2.4 KB and 100 KB of JSON. A name has no point, which is the harness's.
    case small = 22
    case large = 900

    static let baseURL = URL(string: "http://localhost") ?? URL(fileURLWithPath: "/")

    var url: URL { Self.baseURL.appendingPathComponent("\(rawValue)") }
}

private struct Item: Codable {
    let id: Int
    let name: String
    let owner: String
    let stars: Int
    let description: String?

    enum CodingKeys: String, CodingKey { case id, name, owner, stars = "stargazers_count", description }
}

private struct ItemsRequest: APIRequest {
    let size: Size
    var endpoint: Endpoint<[Item]> { Endpoint(.get, "/\(size.rawValue)") }
}

/// The smallest protocol that answers: at once, with as many items as the path says.
private final class Immediate: URLProtocol {
    private static let bodies: [String: Data] = Dictionary(
        uniqueKeysWithValues: [Size.small, .large].map { size in
            let items = (0..<size.rawValue).map {
                Item(id: $0, name: "repository \($0)", owner: "owner", stars: $0 * 7, description: "What it is for, in a few words")
            }
            return ("/\(size.rawValue)", (try? JSONEncoder().encode(items)) ?? Data())
        })

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        guard let url = request.url, let body = Self.bodies[url.path],
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["Content-Type": "application/json"])
        else { fatalError("The benchmark asks for what its protocol has not.") }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: body)
        client?.urlProtocolDidFinishLoading(self)
    }
}
