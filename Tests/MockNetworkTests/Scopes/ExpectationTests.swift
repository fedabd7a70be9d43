import APIProvider
import Foundation
import MiniRx
import MockNetworkTesting
import TestSupport
import Testing

@testable import MockNetwork

/// A known issue belongs to a test only if its expectation knows the test.
@Suite("An expectation in a closure of the mock belongs to the test that has written it", tenMinutes)
struct ExpectationTests {
    /// From where a request is sent.
    enum Sender: CaseIterable {
        case task, detachedTask, queue

        func send(_ provider: DefaultAPIProvider, _ body: String) async {
            let request = Endpoint<Data>(.post, "/a", body: .data(Data(body.utf8), contentType: "text/plain"))
            switch self {
            case .task: _ = try? await provider.request(request).value
            case .detachedTask: await Task.detached { _ = try? await provider.request(request).value }.value
            case .queue:
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async {
                        _ = provider.request(request).subscribe(onDisposed: { continuation.resume() })
                    }
                }
            }
        }
    }

    @Sendable private static func expect(_ body: Data) -> Bool {
        #expect(body == Data("right".utf8))
        return true
    }

    private static let kinds: [@Sendable () -> Void] = [
        { MockURLProtocol.stub(.post, "/a", respond: .handler { expect($0.body) ? .status(200) : .status(500) }) },
        { MockURLProtocol.stub(where: { expect($0.body) }, respond: .status(200)) },
        { MockURLProtocol.stub(.post, "/a", body: .matching { expect($0) }, respond: .status(200)) },
        {
            MockURLProtocol.requestHandler = { request in
                _ = expect(request.httpBody ?? Data())
                throw TestError()
            }
        },
    ]

    @Test("In each closure, from each sender", arguments: 0..<kinds.count, Sender.allCases)
    func closure(index: Int, sender: Sender) async {
        for way in Way.allCases {
            let texts = Log<String>()
            await withKnownIssue {
                await MockURLProtocol.withScope {
                    let provider = way.provider
                    Self.kinds[index]()
                    await sender.send(provider, "right")
                    #expect(texts.count == 0)
                    await sender.send(provider, "wrong")
                }
            } matching: { issue in
                texts.append("\(issue)")
                return true
            }
            #expect(texts.count == 1, "\(way): \(texts.entries)")
        }
    }

    @Test("Once, also if the request finds no answer and its report compares it with each stub", arguments: Way.allCases)
    func unanswered(way: Way) async {
        let stubs: [@Sendable () -> Void] = [
            { MockURLProtocol.stub(where: { !Self.expect($0.body) }, respond: .status(200)) },
            { MockURLProtocol.stub(where: { Self.expect($0.body) }, times: 0, respond: .status(200)) },
            { MockURLProtocol.stub(where: { Self.expect($0.body) }, respond: .sequence([])) },
            { MockURLProtocol.stub(.post, "/a", body: .matching { !Self.expect($0) }, respond: .status(200)) },
            { MockURLProtocol.stub(.get, "/a", body: .matching { Self.expect($0) }, respond: .status(200)) },
            {
                MockURLProtocol.stub(.post, "/b", respond: .status(200))
                MockURLProtocol.stub(where: { !Self.expect($0.body) }, respond: .status(200))
                MockURLProtocol.stub(.post, "/c", respond: .status(200))
            },
        ]
        for (index, stub) in stubs.enumerated() {
            let (texts, reports) = (Log<String>(), Log<String>())
            await withKnownIssue {
                await MockURLProtocol.withScope {
                    stub()
                    await Sender.task.send(way.provider, "wrong")
                    reports.append(MockURLProtocol.unansweredReports.joined())
                }
            } matching: { issue in
                texts.append("\(issue)")
                return true
            }
            #expect(texts.count == 1, "\(index): \(texts.entries)")
            #expect(reports.entries.first?.contains(index < 5 ? "has one stub" : "has 3 stubs") == true)
        }
    }

    @Test("Under a hundred requests at once", arguments: Way.allCases)
    func concurrent(way: Way) async {
        let texts = Log<String>()
        await withKnownIssue {
            await MockURLProtocol.withScope {
                let provider = way.provider
                MockURLProtocol.stub(.post, "/a", respond: .handler { Self.expect($0.body) ? .status(200) : .status(500) })
                await withTaskGroup { group in
                    for number in 0..<100 { group.addTask { await Sender.queue.send(provider, number % 10 == 0 ? "wrong" : "right") } }
                }
                #expect(MockURLProtocol.requests.count == 100)
            }
        } matching: { issue in
            texts.append("\(issue)")
            return true
        }
        #expect(texts.count == 10)
    }

    @Test("Each closure knows the test, however many threads call one at once")
    func threads() {
        MockURLProtocol.withScope {
            let (task, unknown) = (TaskLocalContext.current, Locked(0))
            DispatchQueue.concurrentPerform(iterations: 2_000) { _ in
                task.call { if Scope.current == nil { unknown.withLock { $0 += 1 } } }
            }
            #expect(task != nil && unknown.withLock { $0 } == 0)
        }
    }

    @Test("A handler may block while another runs")
    func blocking() async throws {
        try await MockURLProtocol.withScope {
            let provider = Way.session.provider
            let gate = DispatchSemaphore(value: 0)
            MockURLProtocol.stub(
                where: { $0.path == "/a" },
                respond: .handler { _ in
                    gate.wait()
                    return .status(200)
                })
            MockURLProtocol.stub(
                .get, "/b",
                respond: .handler { _ in
                    gate.signal()
                    return .status(200)
                })
            async let first = provider.request(Endpoint<Data>(.get, "/a")).value
            _ = try await provider.request(Endpoint<Data>(.get, "/b")).value
            _ = try await first
        }
    }
}
