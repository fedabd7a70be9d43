#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import MiniRx

/// Sessions with open connections, each for one request at a time.
final class IdleSessionPool: Sendable {
    /// The maximum number of sessions, including those in use. A session needs two file descriptors, and one for each connection. Many
    /// systems allow a process 1,024.
    private static let maxCount = 100

    private struct State {
        var idle: [URLSession] = []
        /// Includes sessions in use.
        var count = 0
        var isInvalid = false
    }

    private let limit: Int
    private let state = Locked(State())

    /// - Parameter limit: The maximum number of sessions to keep.
    init(limit: Int) { self.limit = limit }

    /// Returns a session for one request, or `nil` if too many are in use. Return the session with ``add(_:)``.
    ///
    /// Prefers the session added last, with the connections most likely to be open.
    func takeSession(orMake makeSession: () -> URLSession) -> URLSession? {
        let (idle, isFull) = state.withLock { state in
            let idle = state.idle.popLast()
            let isFull = idle == nil && state.count == Self.maxCount
            if idle == nil, !isFull { state.count += 1 }
            return (idle, isFull)
        }
        return isFull ? nil : idle ?? makeSession()
    }

    /// Keeps `session` for a later request.
    func add(_ session: URLSession) {
        let isKept = state.withLock { state in
            let isKept = !state.isInvalid && state.idle.count < limit
            if isKept { state.idle.append(session) } else { state.count -= 1 }
            return isKept
        }
        if !isKept { session.finishTasksAndInvalidate() }
    }

    /// Keeps no session from now on.
    func invalidate() {
        let idle = state.withLock { state in
            defer { (state.idle, state.isInvalid) = ([], true) }
            return state.idle
        }
        idle.forEach { $0.finishTasksAndInvalidate() }
    }
}
#endif
