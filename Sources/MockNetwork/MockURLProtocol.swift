import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Answers the requests of a `URLSession` from memory and from files, never from the network.
///
/// ```swift
/// MockURLProtocol.responseWithDTO(type: Fixture.search)
/// MockURLProtocol.responseWithStatusCode(code: 200)
/// let provider = DefaultAPIProvider(baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
/// ```
///
/// The newest stub that matches and is not used up answers a request. If there is none, ``requestHandler`` answers, or else
/// ``responseType`` with ``dto``. Otherwise the request fails with an error that says what to do.
///
/// In a test with the trait `.mockNetwork`, and inside `withScope`, the static members belong to that scope, so tests may run in parallel.
/// The mock works with any code that uses `URLSession`.
///
/// watchOS does not let apps add protocol classes. Use ``MockTransport`` there.
public class MockURLProtocol: URLProtocol {
    /// A session may call `startLoading` again, and `stopLoading` at any time. After the end, the client must not be called.
    fileprivate enum Phase {
        case idle
        /// The answer is being made, or is delayed.
        case answering((any Disposable)?)
        case answered(Reply)
        case ended

        /// Goes to the next phase at a `startLoading`, and returns the old one.
        mutating func advance() -> Phase {
            defer {
                switch self {
                case .idle: self = .answering(nil)
                case .answered: self = .ended
                case .answering, .ended: break
                }
            }
            return self
        }
    }

    private let phase = Locked(Phase.idle)

    /// `true`: the mock answers every request.
    override public class func canInit(with request: URLRequest) -> Bool { true }

    /// The request, unchanged.
    override public class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Makes the answer and passes it to the client.
    override public func startLoading() {
        switch phase.withLock({ $0.advance() }) {
        case .idle: makeAnswer()
        case .answered(let answer): tell(answer)
        case .answering, .ended: break
        }
    }

    /// Ends the request, unless its task is only suspended. The client is not called after that.
    override public func stopLoading() {
        guard isOver else { return }
        let old = phase.withLock { phase in
            defer { phase = .ended }
            return phase
        }
        if case .answering(let delay) = old { delay?.dispose() }
    }

    private func makeAnswer() {
        if let refusal { return play(Reply(.failed(refusal))) }
        guard let scope = Self.scopeOfSession else {
            return play(Reply(.failed(MockFailure(endedScopeOf: RecordedRequest(request)))))
        }
        let timeout = request.timeoutInterval
        switch scope.receive(wholeRequest) {
        case .reply(let reply):
            let reply = reply.within(timeout)
            if reply.delay > 0 { LoadingThread(of: self).play(reply) } else { play(reply) }
        case .handler(let handler):
            let thread = LoadingThread(of: self)
            DispatchQueue.global().async { thread.play(handler().within(timeout)) }
        }
    }

    /// Call it on the loading thread.
    private func play(_ reply: Reply) {
        if become(.ended) { tell(reply) }
    }

    /// Returns `false` if the request has ended.
    fileprivate func become(_ new: Phase) -> Bool {
        phase.withLock { phase in
            guard case .answering = phase else { return false }
            phase = new
            return true
        }
    }

    private func tell(_ reply: Reply) {
        if let head = reply.head { client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed) }
        for chunk in reply.chunks(isWhole: reply.chunkCount > 1 && !takesChunks) { client?.urlProtocol(self, didLoad: chunk) }
        switch reply.end {
        case .finished: client?.urlProtocolDidFinishLoading(self)
        case .failed(let error): client?.urlProtocol(self, didFailWithError: error.reported)
        case .never: break
        }
    }

    /// The scope of the session that created this object. `nil` after the scope has ended.
    static var scopeOfSession: Scope? {
        self == MockURLProtocol.self ? Scope.process : ScopeClasses.scope(of: self)
    }
}

extension LoadingThread {
    /// Plays `reply` on the loading thread when its delay is over. Call it on any thread.
    fileprivate func play(_ reply: Reply) {
        guard reply.delay > 0 else {
            if urlProtocol.become(.answered(reply)) { startLoading() }
            return
        }
        var rest = reply
        rest.delay = 0
        let timer = SerialDisposable()
        guard urlProtocol.become(.answering(timer)) else { return }
        timer.disposable = Reply.scheduler.schedule(after: reply.interval) { [rest] in play(rest) }
    }
}
