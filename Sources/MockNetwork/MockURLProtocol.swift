import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Answers the requests of a `URLSession` from memory and from fixtures, and never from the network.
///
/// ```swift
/// MockURLProtocol.responseWithDTO(type: Fixture.search)
/// MockURLProtocol.responseWithStatusCode(code: 200)
/// let provider = DefaultAPIProvider(baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
/// ```
///
/// A request gets the answer of the newest stub that matches it and is not used up, else of ``requestHandler``, else ``responseType`` with
/// ``dto``, else an error that says what to do. Inside of `withScope` and of a test with the trait `.mockNetwork`, all of this is that scope's
/// own, so that tests may run in parallel. It works with any code that uses `URLSession`.
///
/// watchOS takes no protocol classes of an app: use ``MockTransport`` there.
public class MockURLProtocol: URLProtocol {
    /// A session may call `startLoading` again and `stopLoading` at any moment, and nothing may be told to its client after the end.
    fileprivate enum Phase {
        case idle
        /// An answer is being made, or waits for its time.
        case answering((any Disposable)?)
        case answered(Reply)
        case ended

        /// What a `startLoading` finds, which goes on to the next phase.
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

    /// Every request is the mock's.
    override public class func canInit(with request: URLRequest) -> Bool { true }

    /// The request as it is.
    override public class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Makes the answer and tells it to the client.
    override public func startLoading() {
        switch phase.withLock({ $0.advance() }) {
        case .idle: makeAnswer()
        case .answered(let answer): tell(answer)
        case .answering, .ended: break
        }
    }

    /// Nothing is told to the client any more, unless the task is only suspended.
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

    /// To be called on the loading thread.
    private func play(_ reply: Reply) {
        if become(.ended) { tell(reply) }
    }

    /// False once it has ended.
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

    /// The scope of the session that has made this object; `nil` once it has ended.
    static var scopeOfSession: Scope? {
        self == MockURLProtocol.self ? Scope.process : ScopeClasses.scope(of: self)
    }
}

extension LoadingThread {
    /// Plays `reply` there when it is time; called from anywhere.
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
