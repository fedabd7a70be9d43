import APIProvider
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderMocks

/// An expectation belongs to the test that is current where it is checked. That it then fails this test is shown by the failing tests.
@Suite("A closure of the mock runs in the test that has written it, so that its expectations belong to that test", tenMinutes)
struct ExpectationTests {
    /// From where a request is sent.
    enum Sender: CaseIterable {
        case task, detachedTask, queue

        func send(_ provider: DefaultAPIProvider) async {
            let request = Endpoint<Data>(.post, "/a", body: .data(Data("body".utf8), contentType: "text/plain"))
            switch self {
            case .task: _ = try? await provider.request(request).value
            case .detachedTask: await Task.detached { _ = try? await provider.request(request).value }.value
            case .queue:
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async {
                        _ = provider.request(request).subscribe(onFailure: { _ in }, onDisposed: { continuation.resume() })
                    }
                }
            }
        }
    }

    /// The tests that were current in the closures.
    private let tests = Log<String?>()

    @discardableResult
    private static func note(_ tests: Log<String?>) -> Bool {
        tests.append(Test.current?.name)
        return true
    }

    private static let kinds: [@Sendable (Log<String?>) -> Void] = [
        { tests in MockURLProtocol.stub(.post, "/a", respond: .handler { _ in note(tests) ? .status(200) : .never }) },
        { tests in MockURLProtocol.stub(where: { _ in note(tests) }, respond: .status(200)) },
        { tests in MockURLProtocol.stub(.post, "/a", body: .matching { _ in note(tests) }, respond: .status(200)) },
        { tests in
            MockURLProtocol.requestHandler = { _ in
                note(tests)
                throw TestError()
            }
        },
    ]

    @Test("In each closure, from each sender", arguments: 0..<kinds.count, Sender.allCases)
    func closure(index: Int, sender: Sender) async {
        for way in Way.allCases {
            await MockURLProtocol.withScope {
                let provider = way.provider
                Self.kinds[index](tests)
                await sender.send(provider)
            }
        }
        #expect(tests.entries == ["closure(index:sender:)", "closure(index:sender:)"])
    }

    @Test("Once, also if the request finds no answer and its report compares it with each stub", arguments: Way.allCases)
    func unanswered(way: Way) async throws {
        let stubs: [@Sendable (Log<String?>) -> Void] = [
            { tests in MockURLProtocol.stub(where: { _ in !Self.note(tests) }, respond: .status(200)) },
            { tests in MockURLProtocol.stub(where: { _ in Self.note(tests) }, times: 0, respond: .status(200)) },
            { tests in MockURLProtocol.stub(where: { _ in Self.note(tests) }, respond: .sequence([])) },
            { tests in MockURLProtocol.stub(.post, "/a", body: .matching { _ in !Self.note(tests) }, respond: .status(200)) },
            { tests in MockURLProtocol.stub(.get, "/a", body: .matching { _ in Self.note(tests) }, respond: .status(200)) },
            { tests in
                MockURLProtocol.stub(.post, "/b", respond: .status(200))
                MockURLProtocol.stub(where: { _ in !Self.note(tests) }, respond: .status(200))
                MockURLProtocol.stub(.post, "/c", respond: .status(200))
            },
        ]
        for (index, stub) in stubs.enumerated() {
            let tests = Log<String?>()
            try await MockURLProtocol.withScope {
                stub(tests)
                await Sender.task.send(way.provider)
                let report = try #require(MockURLProtocol.problems.first?.text)
                #expect(report.contains(index < 5 ? "has one stub" : "has 3 stubs"))
            }
            #expect(tests.entries == ["unanswered(way:)"], "\(index)")
        }
    }

    @Test("Under a hundred requests at once", arguments: Way.allCases)
    func concurrent(way: Way) async {
        await MockURLProtocol.withScope {
            let provider = way.provider
            Self.kinds[0](tests)
            await withTaskGroup { group in
                for _ in 0..<100 { group.addTask { await Sender.queue.send(provider) } }
            }
        }
        #expect(tests.entries == Array(repeating: "concurrent(way:)", count: 100))
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
