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
        /// The encoder of the provider under test.
        var encoder: JSONEncoder?
        var requests: [ReceivedRequest] = []
        /// The number of requests that are kept, and of the bytes of their bodies. `nil` keeps all.
        var limit: (count: Int, byteCount: Int)?
        var requestByteCount = 0
        var removedRequestCount = 0
        var answered: [AnsweredRequest] = []
        /// The oldest first.
        var sources: [AnswerSource] = []
        /// What was found while requests were answered.
        var problems: [Problem] = []
        /// The identities of the failures that are ``problems``.
        var failures: Set<Int> = []
        /// When the current test began: in the scope of the process, at the last `reset`.
        var currentTestStart = DispatchTime(uptimeNanoseconds: 0)
    }

    let name: String
    /// The class that brings requests here. `nil` for the scope of the process.
    let protocolClass: URLProtocol.Type?
    let contents: Locked<Contents>
    /// The configurations that were handed out, which sessions have copied. They outlive a `reset`, as the sessions do.
    let configurations = Locked<[URLSessionConfiguration]>([])
    /// Whether the test has failed. That outlives a `reset`, too.
    let hasTestFailed = Locked(false)
    /// The logs of all sources, for the attachment of a failed test. They outlive a `reset`, because they know what is secret.
    let logs = Locked<[@Sendable () -> [any Sendable]]>([])
    /// Whether the app may have put the class into other configurations.
    let mayBeInOtherConfigurations: Locked<Bool>
    /// The number of requests that the mock of the process had received before.
    let earlierRequestCount: Int

    /// - Parameter outer: The scope whose encoder and base URL this one begins with.
    init(name: String, protocolClass: URLProtocol.Type?, within outer: Scope? = nil) {
        self.name = name
        self.protocolClass = protocolClass
        // Every app knows the class of the process.
        mayBeInOtherConfigurations = Locked(protocolClass == nil)
        earlierRequestCount = protocolClass == nil ? 0 : Scope.process.contents.withLock(\.requests.count)
        var contents = Contents()
        if let outer { (contents.baseURL, contents.encoder) = outer.contents.withLock { ($0.baseURL, $0.encoder) } }
        self.contents = Locked(contents)
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

    /// Whether a request that was made at `time` belongs to the current test.
    func belongsToCurrentTest(_ time: DispatchTime) -> Bool { self !== Scope.process || contents.withLock(\.currentTestStart) <= time }

    /// Whether a session may have settings that a protocol class does not see.
    var mayHaveHiddenSettings: Bool {
        mayBeInOtherConfigurations.withLock { $0 } || configurations.withLock { $0 }.contains(where: \.hasHiddenSettings)
    }

    // MARK: - Answering a request

    private typealias Choice = (factory: ResponseFactory, request: ReceivedRequest, stub: Stub?)

    /// Records `request`, and chooses its answer by the current state.
    ///
    /// - Parameter time: When the request was made.
    /// - Returns: A closure that makes the answer, and whether it calls the user's code.
    func receive(_ request: PreparedRequest, madeAt time: DispatchTime) -> (runsUserCode: Bool, answer: @Sendable () -> Answer) {
        let started = Date()
        let received = ReceivedRequest(request)
        guard belongsToCurrentTest(time) else {
            let failure = MockFailure(
                "This request came too late: its test has ended, with MockURLProtocol.reset(). Cancel it there.\n    \(received)",
                isSetupMistake: false)
            return (false, { .failure(failure) })
        }
        let (factory, chosen, stub) = choose(for: received)
        // Released after unlocking.
        _ = contents.withLock { $0.takeExcess(after: received) }
        return (
            factory.runsUserCode,
            {
                let respond: @Sendable () -> Answer = { TaskLocalContext.$scope.withValue(self) { factory(chosen) } }
                let answer = factory.runsUserCode ? factory.context.call(respond) : factory(chosen)
                // A handler may return when its test has ended.
                if let mistake = answer.setupMistake, self.belongsToCurrentTest(time) { self.record(mistake, at: stub?.sourceLocation) }
                // The scope of the process never ends, and that of a server lasts, so keeping their answers would leak.
                guard self !== Scope.process, answer.deferredAnswer == nil else { return answer }
                self.contents.withLock {
                    guard $0.limit == nil else { return }
                    $0.answered.append(AnsweredRequest(request: received.prepared, answer: answer, started: started))
                }
                return answer
            }
        )
    }

    /// The answer of the newest stub that matches `request` and is not used up, or of a source, or else the default answer. The user's code
    /// never runs under the lock.
    private func choose(for request: ReceivedRequest) -> Choice {
        let stubs = contents.withLock(\.stubs)
        lazy var lines = RequestLines(request)
        for index in stubs.indices.reversed() where stubs[index].matches(lines) {
            switch contents.withLock({ $0.use(stubs[index], at: index, for: request) }) {
            case .answer(let factory, let request): return (factory, request, stubs[index])
            case .exhausted: return failure(of: lines)
            case .usedUp: continue
            }
        }
        let (sources, defaultAnswer) = contents.withLock { ($0.sources, $0.defaultAnswer) }
        var reason: String?
        for source in sources.reversed() {
            switch source.choose(request.prepared) {
            case .answer(let answer):
                contents.withLock { $0.requests.append(request) }
                return (ResponseFactory { _ in answer }, request, nil)
            case .none(let other): reason = reason ?? other
            }
        }
        guard let factory = defaultAnswer.factory(for: request.prepared) else { return failure(of: lines, reason) }
        contents.withLock { $0.requests.append(request) }
        return (factory, request, nil)
    }

    /// - Parameter reason: The reason why no source answers.
    private func failure(of lines: RequestLines, _ reason: String? = nil) -> Choice {
        let stubs = contents.withLock { Array(zip($0.stubs, $0.uses)) }
        let report = UnansweredReport(
            request: lines, stubs: stubs, scope: shownName, reason: reason,
            otherScopes: self === Scope.process ? LiveScopes.all.map(\.shownName).sorted() : [],
            stubOfProcess: self === Scope.process ? nil : Scope.process.stub(matching: lines))
        let failure = MockFailure(report.description, isSetupMistake: false)
        var request = lines.request
        request.isUnanswered = true
        contents.withLock {
            $0.requests.append(request)
            $0.problems.append(Problem(text: failure.description))
            $0.failures.insert(failure.id)
        }
        return (ResponseFactory { _ in .failure(failure) }, request, nil)
    }

    /// The newest stub that would answer `request`. Closures of the test are not asked.
    private func stub(matching request: RequestLines) -> Stub? {
        contents.withLock(\.stubs).last { !$0.matchers.contains(where: \.isClosure) && $0.matches(request) }
    }

    private var shownName: String { self === Scope.process ? name : "\"\(name)\"" }
}

extension Scope.Contents {
    /// What a stub that matches does.
    fileprivate enum Use {
        case answer(ResponseFactory, ReceivedRequest)
        /// Its sequence has ended.
        case exhausted
        /// It has answered as many requests as it should, or was removed.
        case usedUp
    }

    /// Counts a use of `stub` by `request`.
    fileprivate mutating func use(_ stub: Stub, at index: Int, for request: ReceivedRequest) -> Use {
        // One before it may have been removed.
        let isThere = stubs.indices.contains(index) && stubs[index].id == stub.id
        guard let index = isThere ? index : stubs.firstIndex(where: { $0.id == stub.id }), uses[index] < stub.times else { return .usedUp }
        guard let factory = stub.response.factory(after: uses[index]) else { return .exhausted }
        uses[index] += 1
        var request = request
        request.stub = stub.id
        requests.append(request)
        return .answer(factory, request)
    }
}
