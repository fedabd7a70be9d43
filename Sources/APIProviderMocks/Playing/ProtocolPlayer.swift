import APIProvider
import Dispatch
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Plays the answer to one request to a protocol class's client.
///
/// A session may call `startLoading` more than once, and `stopLoading` at any time. The client must not be called after the end.
final class ProtocolPlayer: Sendable {
    fileprivate enum Phase {
        case idle
        /// Waiting for the answer, a delay, or more data from a feed. Disposing the value cancels the wait.
        case waiting((any Disposable)?)
        /// The answer is played at the next `startLoading`.
        case due(Answer)
        case playing
        case ended
    }

    /// The scheduler for delays.
    static let delayScheduler = ConcurrentDispatchQueueScheduler(qos: .userInitiated)

    private let phase = Locked(Phase.idle)
    /// The feed's data so far, for a task with a whole body.
    private let joinedBody = Locked<Data?>(nil)

    /// Continues at the session's `startLoading`. The first time, calls `makeAnswer` on the loading thread.
    func start(_ context: LoadingContext, makeAnswer: () -> Void) {
        let old = phase.withLock { phase in
            switch phase {
            case .idle: exchange(&phase, with: .waiting(nil))
            case .due: exchange(&phase, with: .playing)
            case .waiting, .playing, .ended: phase
            }
        }
        switch old {
        case .idle: makeAnswer()
        case .due(let answer): play(answer, context)
        case .waiting, .playing, .ended: break
        }
    }

    /// Ends the request. The client is not called after that.
    func stop() {
        switch phase.withLock({ exchange(&$0, with: .ended) }) {
        case .waiting(let cancellation): cancellation?.dispose()
        case .due(let answer): answer.endFeed()
        case .idle, .playing, .ended: break
        }
    }

    // MARK: - Playing

    /// Delivers the answer up to the next wait. Call this on the loading thread.
    func play(_ answer: Answer, _ context: LoadingContext) {
        if let deferredAnswer = answer.deferredAnswer {
            let cancellation = SerialDisposable()
            guard transition(to: .waiting(cancellation)) else { return }
            cancellation.disposable = deferredAnswer { self.schedule($0, context) }
            return
        }
        guard transition(to: .playing) else { return answer.endFeed() }
        guard answer.delay <= 0 else { return schedule(answer.droppingDelay(), context, after: answer.delay) }
        let (urlProtocol, client) = (context.urlProtocol, context.urlProtocol.client)
        let answer = answer.chunks.count > 1 && urlProtocol.joinsChunks ? answer.joined() : answer
        if answer.head != nil, answer.feed != nil, urlProtocol.joinsChunks { joinedBody.withLock { $0 = Data() } }
        if let head = answer.head { client?.urlProtocol(urlProtocol, didReceive: head, cacheStoragePolicy: .notAllowed) }
        for (index, step) in zip(answer.steps.indices, answer.steps) {
            guard transition(to: .playing) else { return answer.endFeed() }
            switch step {
            case .wait(let interval):
                if interval.seconds > 0 { return schedule(answer.suffix(after: index), context, after: interval.seconds) }
            case .data(let chunk): client?.urlProtocol(urlProtocol, didLoad: chunk)
            case .failure(let error):
                if transition(to: .ended) { client?.urlProtocol(urlProtocol, didFailWithError: error.forClient) }
            }
        }
        if let feed = answer.feed { return playParts(of: feed, context) }
        if transition(to: .ended) { client?.urlProtocolDidFinishLoading(urlProtocol) }
    }

    /// Delivers the feed's data, and continues with later data. Call this on the loading thread.
    private func playParts(of feed: StreamFeed, _ context: LoadingContext) {
        repeat {
            while transition(to: .playing), let part = feed.next() {
                switch part {
                case .data(let data):
                    let isJoined = joinedBody.withLock { $0?.append(data) } != nil
                    if !isJoined { context.urlProtocol.client?.urlProtocol(context.urlProtocol, didLoad: data) }
                    feed.didRead(data.count)
                case .end(let error):
                    let body = StubResponse.steps(of: joinedBody.withLock { $0.take() } ?? Data())
                    return play(Answer(steps: body[...] + (error.map { [.failure($0)] } ?? [])), context)
                }
            }
            guard transition(to: .waiting(Disposables.create { feed.requestDidEnd() })) else { return feed.requestDidEnd() }
        } while !feed.onNextPart { self.schedule(Answer(feed: feed), context) }
    }

    /// Moves to `new` from waiting or playing. Returns `false` in other phases.
    private func transition(to new: Phase) -> Bool {
        // Released after unlocking, because the old phase may hold the user's objects.
        let old = phase.withLock { phase -> Phase? in
            switch phase {
            case .waiting, .playing: exchange(&phase, with: new)
            case .idle, .due, .ended: nil
            }
        }
        return old != nil
    }

    // MARK: - The loading thread

    /// Plays `answer` on the loading thread, after this call. Call this on any thread.
    func schedule(_ answer: Answer, _ context: LoadingContext) {
        // This may be the loading thread: a late answer may come at once, and a stub's condition may send a feed's part. There,
        // `startLoading` would wait for itself.
        DispatchQueue.global().async { [self] in
            guard transition(to: .due(answer)) else { return answer.endFeed() }
            context.startLoading()
        }
    }

    /// Plays `answer` on the loading thread after a delay. Call this on any thread.
    private func schedule(_ answer: Answer, _ context: LoadingContext, after seconds: TimeInterval) {
        let timer = SerialDisposable()
        let cancellation = Disposables.create {
            timer.dispose()
            answer.endFeed()
        }
        guard transition(to: .waiting(cancellation)) else { return cancellation.dispose() }
        timer.disposable = Self.delayScheduler.schedule(after: DispatchTimeInterval(seconds: seconds)) { self.schedule(answer, context) }
    }
}
