package import APIProvider
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
/// let provider = DefaultAPIProvider(
///     baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
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
    /// The state of the load. A session may call `startLoading` more than once, and `stopLoading` at any time. The client must not be
    /// called after the end.
    fileprivate enum Phase {
        case idle
        /// Waiting for the answer, a delay, or more data from a feed. Disposing the value cancels that wait.
        case waiting((any Disposable)?)
        /// The answer is played at the next `startLoading`.
        case due(Playback)
        case playing
        case ended
    }

    private let phase = Locked(Phase.idle)
    private let creationTime = DispatchTime.now()
    /// What a feed has sent, if the task takes the body as a whole.
    private let collectedBody = Locked<Data?>(nil)

    // MARK: - Loading

    /// `true`: the mock answers every request.
    override public class func canInit(with request: URLRequest) -> Bool {
        reportUseIfScopeEnded()
        return true
    }

    /// The request, unchanged.
    override public class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Makes the answer and passes it to the client.
    override public func startLoading() {
        let old = phase.withLock { phase in
            switch phase {
            case .idle: exchange(&phase, with: .waiting(nil))
            case .due: exchange(&phase, with: .playing)
            case .waiting, .playing, .ended: phase
            }
        }
        switch old {
        case .idle: makeAnswer()
        case .due(let answer): play(answer)
        case .waiting, .playing, .ended: break
        }
    }

    /// Ends the request, unless its task is only suspended. The client is not called after that.
    override public func stopLoading() {
        guard isStopFinal else { return }
        switch phase.withLock({ exchange(&$0, with: .ended) }) {
        case .waiting(let cancellation): cancellation?.dispose()
        case .due(let answer): answer.endFeed()
        case .idle, .playing, .ended: break
        }
    }

    // MARK: - The answer

    private func makeAnswer() {
        if let unsupportedTaskError {
            Self.liveScope?.recordMistake(unsupportedTaskError.description)
            return play(.failure(unsupportedTaskError))
        }
        var sent = requestWithBody
        let taskDescription = task?.taskDescription
        // A transport adds the settings of its session itself.
        let isTransportTask = taskDescription == Self.descriptionOfTransportTask || taskDescription == Self.descriptionOfLateTransportTask
        if !isTransportTask { addSessionSettings(to: &sent) } else if let task { sent.secrets = task.requestSecrets }
        let time = taskDescription == Self.descriptionOfLateTransportTask ? DispatchTime(uptimeNanoseconds: 0) : creationTime
        let (runsUserCode, answer) = Self.receive(sent, madeAt: time)
        // On Linux, sessions do not apply timeouts to protocol classes (as of Swift 6.3.1).
        let timeout = sent.timeoutInterval ?? request.timeoutInterval
        guard runsUserCode else { return play(answer().timingOut(after: timeout)) }
        let thread = LoadingThread(of: self)
        DispatchQueue.global().async { thread.schedule(answer().timingOut(after: timeout)) }
    }

    /// Records `request` in the scope of this class, and chooses its answer. The closure creates the answer, and may run the test's code.
    static func receive(
        _ request: PreparedRequest, madeAt time: DispatchTime = .now()
    ) -> (runsUserCode: Bool, answer: @Sendable () -> Playback) {
        guard let scope = liveScope else {
            reportUseIfScopeEnded(at: request.context?.subscriptionTime ?? time)
            let failure = MockFailure("\(endedScopeReport)\n    \(ReceivedRequest(request))", isSetupMistake: false)
            return (false, { .failure(failure) })
        }
        return scope.receive(request, madeAt: request.context?.subscriptionTime ?? time)
    }

    // MARK: - Playing

    /// Delivers the answer up to the next wait. Call it on the loading thread.
    private func play(_ answer: Playback) {
        if let deferredAnswer = answer.deferredAnswer {
            let cancellation = SerialDisposable()
            guard transition(to: .waiting(cancellation)) else { return }
            let thread = LoadingThread(of: self)
            cancellation.disposable = deferredAnswer { thread.schedule($0) }
            return
        }
        guard transition(to: .playing) else { return answer.endFeed() }
        guard answer.delay <= 0 else { return LoadingThread(of: self).schedule(answer.droppingDelay(), after: answer.delay) }
        let answer = answer.chunks.count > 1 && takesWholeBody ? answer.chunked(into: 1) : answer
        if answer.head != nil, answer.feed != nil, takesWholeBody { collectedBody.withLock { $0 = Data() } }
        if let head = answer.head { client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed) }
        for (index, step) in zip(answer.steps.indices, answer.steps) {
            guard transition(to: .playing) else { return answer.endFeed() }
            switch step {
            case .wait(let interval):
                if interval.seconds > 0 { return LoadingThread(of: self).schedule(answer.suffix(after: index), after: interval.seconds) }
            case .data(let chunk): client?.urlProtocol(self, didLoad: chunk)
            case .failure(let error):
                if transition(to: .ended) { client?.urlProtocol(self, didFailWithError: error.forClient) }
            }
        }
        if let feed = answer.feed { return playParts(of: feed) }
        if transition(to: .ended) { client?.urlProtocolDidFinishLoading(self) }
    }

    /// Delivers what the feed has sent, and goes on when it sends more. Call it on the loading thread.
    private func playParts(of feed: StreamFeed) {
        while transition(to: .playing), let part = feed.next() {
            switch part {
            case .data(let data):
                let isCollected = collectedBody.withLock { $0?.append(data) } != nil
                if !isCollected { client?.urlProtocol(self, didLoad: data) }
                feed.didRead(data.count)
            case .end(let error):
                let body = StubResponse.steps(of: collectedBody.withLock { $0.take() } ?? Data())
                return play(Playback(steps: body[...] + (error.map { [.failure($0)] } ?? [])))
            }
        }
        guard transition(to: .waiting(Disposables.create { feed.requestDidEnd() })) else { return feed.requestDidEnd() }
        let thread = LoadingThread(of: self)
        feed.onNextPart { thread.schedule(Playback(feed: feed)) }
    }

    /// Moves to `new` if the load is waiting or playing. Returns `false` otherwise.
    fileprivate func transition(to new: Phase) -> Bool {
        // The old phase is released after the lock, because it may hold what the user's code has returned.
        let old = phase.withLock { phase -> Phase? in
            switch phase {
            case .waiting, .playing: exchange(&phase, with: new)
            case .idle, .due, .ended: nil
            }
        }
        return old != nil
    }
}

// MARK: - The loading thread

extension LoadingThread {
    /// Plays `answer` on the loading thread. Call it on any thread.
    fileprivate func schedule(_ answer: Playback) {
        guard urlProtocol.transition(to: .due(answer)) else { return answer.endFeed() }
        startLoading()
    }

    /// Plays `answer` on the loading thread after a delay. Call it on any thread.
    fileprivate func schedule(_ answer: Playback, after seconds: TimeInterval) {
        let timer = SerialDisposable()
        let cancellation = Disposables.create {
            timer.dispose()
            answer.endFeed()
        }
        guard urlProtocol.transition(to: .waiting(cancellation)) else { return cancellation.dispose() }
        timer.disposable = MockURLProtocol.delayScheduler.schedule(after: DispatchTimeInterval(seconds: seconds)) { schedule(answer) }
    }
}

// MARK: - The tasks of a transport

extension MockURLProtocol: NetworkStandIn {
    package static var describeTask: @Sendable (PreparedRequest) -> String {
        let mock: MockURLProtocol.Type = self
        return { request in
            mock.reportUseIfScopeEnded()
            let isLate = request.context.map { mock.liveScope?.belongsToCurrentTest($0.subscriptionTime) == false } ?? false
            return isLate ? descriptionOfLateTransportTask : descriptionOfTransportTask
        }
    }

    /// The `taskDescription` is the only value that a transport can hand to the protocol class of its task on all platforms.
    private static let (descriptionOfTransportTask, descriptionOfLateTransportTask) = ("", "its test has ended")

    /// The scheduler for delays.
    static let delayScheduler = ConcurrentDispatchQueueScheduler(qos: .userInitiated)
}
