import APIProvider
import APIProviderMocks
import Foundation
import TestSupport
import Testing

@Suite("Stubs and requests in great numbers", .serialized, tenMinutes)
struct GrowthTests {
    @Test("A report of thousands of stubs and requests takes about eight times as long as one of an eighth of them", .longComputing)
    func verifying() {
        func seconds(_ count: Int) -> Double {
            MockURLProtocol.withScope {
                let provider = mocked
                for number in 0..<count { MockURLProtocol.stub(.get, "/items/\(number)", query: ["page": number], respond: .status(200)) }
                MockURLProtocol.stub(.get, "/**", respond: .status(200))
                let sending = cpuSeconds {
                    for number in 0..<count * 18 / 25 { _ = provider.request(Endpoint<Void>(.get, "/things/\(number)")).subscribe { _ in } }
                }
                var report = ""
                let seconds = cpuSeconds { report = (try? verification()) ?? "" }
                #expect(report.components(separatedBy: "was never used").count == count + 1)
                // Four times as long as sending; an absolute time depends on the machine and on sanitizers.
                #expect(seconds < 20 * sending)
                return seconds
            }
        }
        // By day, fewer: the requests are compared with each stub.
        #expect(isLinear(isNight ? 625 : 250, seconds: seconds))
    }

    @Test("A query of thousands of items is read once, however many stubs it does not match", .longComputing)
    func queries() {
        let items = (0..<3_000).map { "id=\($0)" }.joined(separator: "&")
        func seconds(_ count: Int) -> Double {
            MockURLProtocol.withScope {
                let provider = mocked
                for number in 0..<count { MockURLProtocol.stub(.get, "/items", query: ["id": -number - 1], respond: .status(200)) }
                let request = Endpoint<Void>(.get, .url(URL(string: "\(example)/items?\(items)&a=+") ?? example))
                return (0..<2).map { _ in cpuSeconds { _ = provider.request(request).subscribe { _ in } } }.min() ?? 0
            }
        }
        #expect(seconds(1_000) < 2 * seconds(20))
    }

    @Test("The report names the newer stub that has answered for the first hundred stubs that were never used")
    func newerStubs() throws {
        let report = try MockURLProtocol.withScope {
            for _ in 0..<101 { MockURLProtocol.stub(.get, "/a", respond: .status(200)) }
            MockURLProtocol.stub(.get, "/**", respond: .status(200))
            _ = mocked.request(Endpoint<Void>(.get, "/a")).subscribe { _ in }
            return try verification()
        }
        #expect(report.components(separatedBy: "was never used. The newer stub GET /** (").count == 101)
    }

    @Test("A request's body is read once: a hundred stubs take little longer than one", .longComputing)
    func bodies() {
        let items = (0..<200).map { JSONValue(["id": JSONValue($0), "name": "item", "tags": ["a", "b"]]) }
        func body(_ last: Int) -> JSONValue { ["items": JSONValue(items), "last": JSONValue(last)] }
        func seconds(_ count: Int) -> Double {
            MockURLProtocol.withScope {
                let provider = mocked
                for number in 0..<count {
                    MockURLProtocol.stub(.post, "/a", body: .json(body(number)), isOptional: true, respond: .status(200))
                }
                let request = Endpoint<Void>(.post, "/a", body: .json(body(0)))
                return (0..<3).map { _ in cpuSeconds { _ = provider.request(request).subscribe { _ in } } }.min() ?? 0
            }
        }
        #expect(seconds(100) < 2 * seconds(1))
    }

    @Test("The report of a request without an answer is about three stubs, however many there are", .longComputing)
    func unanswered() {
        func seconds(_ count: Int) -> Double {
            MockURLProtocol.withScope {
                let provider = mocked
                for number in 0..<count { MockURLProtocol.stub(.get, "/items/\(number)", query: ["page": number], respond: .status(200)) }
                return (0..<3).map { _ in cpuSeconds { _ = provider.request(Endpoint<Void>(.get, "/other")).subscribe { _ in } } }.min()
                    ?? 0
            }
        }
        #expect(seconds(4_000) < 12 * seconds(500))
    }
}
