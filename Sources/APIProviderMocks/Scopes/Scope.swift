import APIProvider
import Dispatch
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The stubs and received requests of one test or of the process.
final class Scope: Sendable {
    struct Contents {
        /// The oldest first.
        var stubs: [Stub] = []
        /// Each stub's number of requests.
        var uses: [Int] = []
        var defaultAnswer = DefaultAnswer()
        /// The provider's base URL.
        var baseURL: URL?
        /// The provider's encoder.
        var encoder: JSONEncoder?
        var requests: [ReceivedRequest] = []
        /// The limits for kept requests and for the bytes in their bodies. `nil` keeps all.
        var limit: (count: Int, byteCount: Int)?
        var requestByteCount = 0
        var removedRequestCount = 0
        /// The oldest first.
        var sources: [AnswerSource] = []
        /// The sources' names of secrets. Outlive the sources, for the reports about late requests.
        var hiddenNames: [String] = []
        /// The problems found while answering requests.
        var problems: [Problem] = []
        /// The identities of the failures in ``problems``.
        var failures: Set<Int> = []
        /// When the current test began: in the process's scope, at the last `reset`.
        var currentTestStart = DispatchTime(uptimeNanoseconds: 0)
        var isEnded = false
        /// What was set up after the end, for the errors of late requests.
        var lateAnswers: [String] = []
    }

    let name: String
    /// The class that sends requests here; `nil` for the process's scope.
    let protocolClass: URLProtocol.Type?
    let contents: Locked<Contents>
    /// The created configurations, copied by sessions. Outlive a `reset`, like the sessions.
    let configurations = Locked<[URLSessionConfiguration]>([])
    /// Whether the test failed. Outlives a `reset`, too.
    let hasTestFailed = Locked(false)
    /// Whether the app may use the class in other configurations.
    let mayBeInOtherConfigurations: Locked<Bool>
    /// The number of the process's requests when this scope began.
    let earlierRequestCount: Int

    /// - Parameter outer: The scope with the initial encoder and base URL.
    init(name: String, protocolClass: URLProtocol.Type?, within outer: Scope? = nil) {
        self.name = name
        self.protocolClass = protocolClass
        // Every app knows the process's class.
        mayBeInOtherConfigurations = Locked(protocolClass == nil)
        earlierRequestCount = protocolClass == nil ? 0 : Scope.process.contents.withLock(\.requests.count)
        var contents = Contents()
        if let outer { (contents.baseURL, contents.encoder) = outer.contents.withLock { ($0.baseURL, $0.encoder) } }
        self.contents = Locked(contents)
    }

    /// The process's scope, for code outside every `withScope`.
    static let process = Scope(name: "of the whole process", protocolClass: nil)

    /// The current task's scope; `nil` outside every `withScope`.
    static var current: Scope? { TaskLocalContext.scope as? Scope }

    func add(_ stub: Stub) -> Stub {
        var added = stub
        // The stub keeps the scope, until `end` removes the stub.
        added.allRequests = { self.contents.withLock(\.requests) }
        let isAdded: Void? = setUp("the stub \(stub)") { [added] in
            $0.stubs.append(added)
            $0.uses.append(0)
        }
        return isAdded == nil ? stub : added
    }

    func add(_ source: AnswerSource) {
        setUp("a recording") { contents in
            contents.sources.append(source)
            contents.hiddenNames += source.hiddenNames.filter { !contents.hiddenNames.contains($0) }
        }
    }

    // MARK: - Ending

    /// The part of a body that stays after the end: the requests may stay until the process ends.
    private static let keptByteCount = 65_536

    /// Forgets the answers, and keeps the requests.
    func end() {
        // Released after unlocking.
        var old = Contents()
        contents.withLock { contents in
            swap(&contents, &old)
            contents.requests = old.requests.map { $0.keepingBody(upTo: Self.keptByteCount) }
            (contents.hiddenNames, contents.removedRequestCount) = (old.hiddenNames, old.removedRequestCount)
            (contents.baseURL, contents.encoder, contents.isEnded) = (old.baseURL, old.encoder, true)
        }
    }

    /// Sets up an answer, unless the scope has ended. Then notes the answer for the errors of late requests.
    ///
    /// - Parameters:
    ///   - answer: The answer's description; `nil` for none to note.
    ///   - change: Called under the lock, because the scope may end at any moment.
    /// - Returns: The result of `change`, for release after unlocking; `nil` after the end.
    @discardableResult
    func setUp<Old>(_ answer: @autoclosure () -> String?, _ change: (inout Contents) -> Old) -> Old? {
        let old = contents.withLock { $0.isEnded ? nil : change(&$0) }
        guard old == nil, let answer = answer() else { return old }
        contents.withLock { $0.lateAnswers.append(answer) }
        LiveScopes.keepEnded(self)
        return nil
    }

    /// A sentence about what was set up after the end; empty without any.
    var lateAnswersText: String {
        let answers = contents.withLock(\.lateAnswers)
        return answers.isEmpty ? "" : " What was set up after its end answers nothing: \(answers.joined(separator: ", "))."
    }

    /// Whether a request at this `time` belongs to the current test.
    func belongsToCurrentTest(_ time: DispatchTime) -> Bool { self !== Scope.process || contents.withLock(\.currentTestStart) <= time }

    /// Whether a session may have settings invisible to a protocol class.
    var mayHaveHiddenSettings: Bool {
        mayBeInOtherConfigurations.withLock { $0 } || configurations.withLock { $0 }.contains(where: \.hasHiddenSettings)
    }

    // MARK: - Answering a request

    private typealias Choice = (factory: ResponseFactory, request: ReceivedRequest, stub: Stub?)

    /// Records `request`, and chooses the answer by the current state.
    ///
    /// - Parameter time: The request's time.
    /// - Returns: A closure that makes the answer, and whether the closure calls the user's code.
    func receive(_ request: PreparedRequest, madeAt time: DispatchTime) -> (runsUserCode: Bool, answer: @Sendable () -> Answer) {
        let received = ReceivedRequest(request, hiding: contents.withLock(\.hiddenNames))
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
                // A handler may return after its test.
                if let mistake = answer.setupMistake, self.belongsToCurrentTest(time) { self.record(mistake, at: stub?.sourceLocation) }
                return answer
            }
        )
    }

    /// Chooses the newest matching stub with an answer left, or else a source, or else the default answer. The user's code never runs under
    /// the lock.
    private func choose(for request: ReceivedRequest) -> Choice {
        let stubs = contents.withLock(\.stubs)
        lazy var lines = RequestLines(request)
        for index in stubs.indices.reversed() where stubs[index].matches(lines) {
            guard let (factory, request) = contents.withLock({ $0.use(stubs[index], at: index, for: request) }) else { continue }
            return factory.map { ($0, request, stubs[index]) } ?? failure(of: lines)
        }
        let (sources, defaultAnswer) = contents.withLock { ($0.sources, $0.defaultAnswer) }
        var reason: String?
        for source in sources.reversed() {
            switch source.choose(request.prepared) {
            case .answer(let answer, let name):
                var request = request
                request.source = name
                contents.withLock { [request] in $0.requests.append(request) }
                return (ResponseFactory { _ in answer }, request, nil)
            case .none(let other): reason = reason ?? other
            }
        }
        guard let factory = defaultAnswer.factory(for: request.prepared) else { return failure(of: lines, reason) }
        contents.withLock { $0.requests.append(request) }
        return (factory, request, nil)
    }

    /// - Parameter reason: The sources' reason for not answering.
    private func failure(of lines: RequestLines, _ reason: String? = nil) -> Choice {
        // The scope may have ended since the request came.
        if contents.withLock(\.isEnded), let protocolClass {
            let failure = LiveScopes.endedScopeFailure(of: protocolClass, lines.request.prepared)
            return (ResponseFactory { _ in .failure(failure) }, lines.request, nil)
        }
        let stubs = contents.withLock { Array(zip($0.stubs, $0.uses)) }
        let report = UnansweredReport(
            request: lines, stubs: stubs, scope: shownName, reason: reason,
            otherScopes: self === Scope.process ? LiveScopes.all.map(\.shownName).sorted() : [],
            processStub: self === Scope.process ? nil : Scope.process.stub(matching: lines))
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

    /// The newest stub for `request`, without the test's conditions.
    private func stub(matching request: RequestLines) -> Stub? {
        contents.withLock(\.stubs).last { !$0.matchers.contains(where: \.runsUserCode) && $0.matches(request) }
    }

    private var shownName: String { self === Scope.process ? name : "\"\(name)\"" }
}

extension Scope.Contents {
    /// Counts a use of the matching `stub` by `request`.
    ///
    /// - Returns: No factory if the stub's sequence has ended; `nil` if the stub was used `times` times, or removed.
    fileprivate mutating func use(
        _ stub: Stub, at index: Int, for request: ReceivedRequest
    ) -> (factory: ResponseFactory?, request: ReceivedRequest)? {
        // An earlier stub may have been removed.
        let isUnmoved = stubs.indices.contains(index) && stubs[index].id == stub.id
        guard let index = isUnmoved ? index : stubs.firstIndex(where: { $0.id == stub.id }), uses[index] < stub.times else {
            return nil
        }
        guard let factory = stub.response.factory(after: uses[index]) else { return (nil, request) }
        uses[index] += 1
        var request = request
        request.stub = stub.id
        requests.append(request)
        return (factory, request)
    }
}
