import APIProvider
import Dispatch
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The stubs and received requests of one test, or of the process.
final class Scope: Sendable {
    struct Contents {
        /// The oldest first.
        var stubs: [Stub] = []
        /// The number of requests that each stub has answered.
        var uses: [Int] = []
        var defaultAnswer = DefaultAnswer()
        /// The base URL of the provider under test.
        var baseURL: URL?
        var requests: [ReceivedRequest] = []
        var unanswered: [(request: ReceivedRequest, report: String)] = []
        var answered: [AnsweredRequest] = []
        /// The oldest first.
        var sources: [AnswerSource] = []
        /// The mistakes in the setup of the test that were found while requests were answered.
        var mistakes: [Mistake] = []
        /// The encoder of the provider under test.
        var encoder: JSONEncoder?
        /// In the scope of the process, the last `reset`. A request that was subscribed to earlier belongs to an earlier test.
        var currentTestStart = DispatchTime(uptimeNanoseconds: 0)
    }

    struct Mistake: Hashable {
        let report: String
        /// The stub that is wrong.
        var sourceLocation: Stub.SourceLocation?
    }

    let name: String
    /// The class that brings requests here. `nil` for the scope of the process.
    let protocolClass: URLProtocol.Type?
    let contents = Locked(Contents())
    /// The configurations that were handed out, which sessions have copied. They outlive a `reset`, as the sessions do.
    let configurations = Locked<[URLSessionConfiguration]>([])
    /// Whether the test has failed. That outlives a `reset`, too.
    let hasTestFailed = Locked(false)
    /// The logs of all sources, for the attachment of a failed test. They outlive a `reset`, because they know what is secret.
    let logs = Locked<[@Sendable () -> [any Sendable]]>([])
    /// Whether the app may have put the class into other configurations.
    let mayBeInOtherConfigurations: Locked<Bool>
    /// The number of requests that the mock of the process had received before.
    private let earlierRequestCount: Int

    init(name: String, protocolClass: URLProtocol.Type?) {
        self.name = name
        self.protocolClass = protocolClass
        // Every app knows the class of the process.
        mayBeInOtherConfigurations = Locked(protocolClass == nil)
        earlierRequestCount = protocolClass == nil ? 0 : Scope.process.contents.withLock(\.requests.count)
    }

    /// The scope of code that runs outside every `withScope`.
    static let process = Scope(name: "of the whole process", protocolClass: nil)

    /// The scope of the current task; `nil` outside every `withScope`.
    static var current: Scope? { TaskLocalContext.scope as? Scope }

    func add(_ stub: Stub) -> Stub {
        var stub = stub
        stub.allRequests = { [weak self] in self?.contents.withLock(\.requests) ?? [] }
        contents.withLock {
            $0.stubs.append(stub)
            $0.uses.append(0)
        }
        return stub
    }

    func add(_ source: AnswerSource) {
        contents.withLock { $0.sources.append(source) }
        // The scope of the process never ends, and no test of it has an attachment.
        if self !== Scope.process { logs.withLock { $0.append(source.log) } }
    }

    /// A sentence about requests that the mock of the process has received since this scope began; empty if there are none.
    var reportOfStrayRequests: String {
        guard self !== Scope.process else { return "" }
        let strays = Scope.process.contents.withLock { $0.requests.dropFirst(earlierRequestCount) }
        guard let first = strays.first else { return "" }
        let line = "\(first)".prefix { !$0.isNewline }
        let requests = strays.count == 1 ? "\(line) has" : "\(strays.count) requests, such as \(line), have"
        return " Meanwhile, \(requests) reached the mock of the whole process, from a provider or session that was created outside of this "
            + "scope."
    }

    /// Records a mistake in the setup of the test.
    func recordMistake(_ report: String, at sourceLocation: Stub.SourceLocation? = nil) {
        let mistake = Mistake(report: report, sourceLocation: sourceLocation)
        contents.withLock { if !$0.mistakes.contains(mistake) { $0.mistakes.append(mistake) } }
    }

    // MARK: - Answering a request

    /// Records `request`, and chooses its answer by the current state.
    ///
    /// - Parameter time: When the request was made.
    /// - Returns: A closure that makes the answer, and whether it calls the user's code.
    func receive(_ request: PreparedRequest, madeAt time: DispatchTime) -> (runsUserCode: Bool, answer: @Sendable () -> Playback) {
        let started = Date()
        let received = ReceivedRequest(request)
        guard belongsToCurrentTest(time) else {
            let failure = MockFailure(
                "This request came too late: its test has ended, with MockURLProtocol.reset(). Cancel it there.\n    \(received)",
                isSetupMistake: false)
            return (false, { .failure(failure) })
        }
        var firstMismatches: FirstMismatches = []
        let (factory, chosen) = chooseStub(for: received, &firstMismatches) ?? chooseOtherAnswer(for: received, firstMismatches)
        return (
            factory.runsUserCode,
            {
                let respond: @Sendable () -> Playback = { TaskLocalContext.$scope.withValue(self) { factory(chosen) } }
                let answer = factory.runsUserCode ? factory.context.call(respond) : factory(chosen)
                // A handler may return when its test has ended.
                if let mistake = answer.mistake, self.belongsToCurrentTest(time) {
                    self.recordMistake(mistake.description, at: chosen.stub?.sourceLocation)
                }
                // The scope of the process never ends, so keeping its answers would leak.
                guard self !== Scope.process, answer.deferredAnswer == nil else { return answer }
                self.contents.withLock { $0.answered.append(AnsweredRequest(request: received.prepared, answer: answer, started: started)) }
                return answer
            }
        )
    }

    // MARK: - Choosing an answer

    private typealias Choice = (factory: ResponseFactory, request: ReceivedRequest)
    /// The index of the first matcher of each stub that a request does not meet. `nil` if the stub was not asked, and the number of its
    /// matchers if the request meets all, and the stub is used up. Empty if no stub was asked.
    private typealias FirstMismatches = [Int?]

    /// The newest stub that matches `request` and is not used up. The user's code never runs under the lock.
    ///
    /// - Parameter firstMismatches: Gets the first mismatch of each stub that was asked, for a report.
    private func chooseStub(for request: ReceivedRequest, _ firstMismatches: inout FirstMismatches) -> Choice? {
        let stubs = contents.withLock(\.stubs)
        guard !stubs.isEmpty else { return nil }
        let parts = RequestParts(request)
        for index in stubs.indices.reversed() where stubs[index].problem == nil {
            let mismatch = stubs[index].firstMismatch(with: parts)
            let choice = mismatch == nil ? contents.withLock { $0.use(stubs[index], at: index, for: request) } : nil
            if let choice, let factory = choice.factory { return (factory, choice.request) }
            if firstMismatches.isEmpty { firstMismatches = Array(repeating: nil, count: stubs.count) }
            firstMismatches[index] = mismatch ?? stubs[index].matchers.count
            if choice != nil { return failure(of: request, firstMismatches) }
        }
        return nil
    }

    /// The answer of a source, or else the default answer.
    private func chooseOtherAnswer(for received: ReceivedRequest, _ firstMismatches: FirstMismatches) -> Choice {
        let (sources, defaultAnswer) = contents.withLock { ($0.sources, $0.defaultAnswer) }
        var reason: String?
        for source in sources.reversed() {
            switch source.choose(received.prepared) {
            case .answer(let answer):
                contents.withLock { $0.requests.append(received) }
                return (ResponseFactory { _ in answer }, received)
            case .none(let other): reason = reason ?? other
            }
        }
        guard let factory = defaultAnswer.factory(for: received.prepared) else { return failure(of: received, firstMismatches, reason) }
        contents.withLock { $0.requests.append(received) }
        return (factory, received)
    }

    /// - Parameter reason: The reason why no source answers.
    private func failure(of request: ReceivedRequest, _ firstMismatches: FirstMismatches, _ reason: String? = nil) -> Choice {
        let (stubs, uses) = contents.withLock { ($0.stubs, $0.uses) }
        let tried = stubs.indices.map { (stubs[$0], uses[$0], firstMismatches.indices.contains($0) ? firstMismatches[$0] : nil) }
        let report = UnansweredReport(
            request: request, stubs: tried, scope: shownName,
            reason: reason, otherScopes: self === Scope.process ? LiveScopes.all.map(\.shownName).sorted() : [],
            stubOfProcess: self === Scope.process ? nil : Scope.process.stub(matching: request)
        ).description
        contents.withLock {
            $0.requests.append(request)
            $0.unanswered.append((request, report))
        }
        return (ResponseFactory { _ in .failure(MockFailure(report, isSetupMistake: false)) }, request)
    }

    /// The newest stub that would answer `request`. Closures of the test are not asked.
    private func stub(matching request: ReceivedRequest) -> Stub? {
        let parts = RequestParts(request)
        return contents.withLock(\.stubs).last { stub in
            stub.problem == nil && !stub.matchers.contains(where: \.isClosure) && stub.firstMismatch(with: parts) == nil
        }
    }

    /// Whether a request that was made at `time` belongs to the current test.
    func belongsToCurrentTest(_ time: DispatchTime) -> Bool { self !== Scope.process || contents.withLock(\.currentTestStart) <= time }

    private var shownName: String { self === Scope.process ? name : "\"\(name)\"" }
}

extension Scope.Contents {
    /// Counts a use of `stub` by `request`. `nil` if the stub is used up, or was removed by a `reset`. The factory is `nil` after the end
    /// of a sequence.
    fileprivate mutating func use(
        _ stub: Stub, at index: Int, for request: ReceivedRequest
    ) -> (factory: ResponseFactory?, request: ReceivedRequest)? {
        guard stubs.indices.contains(index), stubs[index].isSame(as: stub), uses[index] < stub.times else { return nil }
        guard let factory = stub.response.factory(after: uses[index]) else { return (nil, request) }
        uses[index] += 1
        var request = request
        request.stub = stub
        requests.append(request)
        return (factory, request)
    }
}
