import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An exchange by a task of a session.
final class SessionExchange: @unchecked Sendable {  // `isChallenged` is touched on the session's serial delegate queue alone.
    private enum State {
        case waiting
        case starting
        case running(URLSessionTask)
        /// Complete or cancelled.
        case over
    }

    let exchange: Exchange
    var isChallenged = false
    private let isForNetwork: Bool
    private let connections: ConnectionQueue?
    private let place: ConnectionQueue.Place
    private let state = Locked(State.waiting)

    /// - Parameters:
    ///   - isForNetwork: Whether no protocol class of the app answers.
    ///   - connections: Where the request waits for a connection to `host`; `nil` leaves that to the session.
    init(_ exchange: Exchange, isForNetwork: Bool, connections: ConnectionQueue?, host: String) {
        (self.exchange, self.isForNetwork, self.connections) = (exchange, isForNetwork, connections)
        place = ConnectionQueue.Place(host: host)
    }

    /// Begins when a connection is free. `makeTask` creates and resumes the task.
    func begin(_ makeTask: @escaping @Sendable () -> URLSessionTask) {
        guard let connections else { return start(makeTask) }
        connections.enter(place) { self.start(makeTask) }
    }

    private func start(_ makeTask: () -> URLSessionTask) {
        let isInTime = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .starting
            return true
        }
        guard isInTime else { return }
        exchange.begin()
        let task = makeTask()
        let isCancelled = state.withLock { state in
            guard case .starting = state else { return true }
            state = .running(task)
            return false
        }
        if isCancelled { task.cancelFromAnywhere() }
    }

    /// False when the body of this response cannot be taken.
    func receive(_ response: URLResponse) -> Bool {
        if !isForNetwork { exchange.receiveFromProtocol() }
        connections?.learn(place, isShared: response.mayBeOfHTTP2)
        return exchange.receive(response)
    }

    /// The session has completed the task.
    func complete(_ response: URLResponse?, _ error: (any Error)?) {
        state.withLock { $0 = .over }
        connections?.leave(place)
        // On Linux the response to a challenge comes whole, then the challenge, and when that is rejected, this error.
        let isWhole = isChallenged && response is HTTPURLResponse && (error as? URLError)?.code == .cancelled
        exchange.complete(response, isWhole ? nil : error)
    }

    /// Cancels the task, unless it is complete. The connection is free when the session has completed it.
    func cancel() {
        exchange.cancel()
        let old = state.withLock { state in
            defer { state = .over }
            return state
        }
        switch old {
        case .waiting: connections?.leave(place)
        case .running(let task): task.cancelFromAnywhere()
        case .starting, .over: break
        }
    }
}
