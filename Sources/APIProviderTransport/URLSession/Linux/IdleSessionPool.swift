#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import MiniRx

/// Sessions with kept connections, each for one request at a time.
final class IdleSessionPool: Sendable {
    /// The maximum number of sessions, including those in use. Each has two file descriptors and its connections; the limit of a process is
    /// often 1,024.
    private static let maxCount = 100

    private struct State {
        var spare: [URLSession] = []
        /// Those in use count, too.
        var count = 0
        var isInvalid = false
    }

    private let limit: Int
    private let state = Locked(State())

    /// - Parameter limit: The maximum number of sessions to keep.
    init(limit: Int) { self.limit = limit }

    /// Returns a session for one request, or `nil` if too many are in use. Return the session with ``add(_:)``.
    ///
    /// Prefers the session added last, with connections most likely open.
    func take(orMake makeSession: () -> URLSession) -> URLSession? {
        let (spare, isFull) = state.withLock { state in
            let spare = state.spare.popLast()
            let isFull = spare == nil && state.count == Self.maxCount
            if spare == nil, !isFull { state.count += 1 }
            return (spare, isFull)
        }
        return isFull ? nil : spare ?? makeSession()
    }

    /// Keeps `session` for a later request.
    func add(_ session: URLSession) {
        let isKept = state.withLock { state in
            let isKept = !state.isInvalid && state.spare.count < limit
            if isKept { state.spare.append(session) } else { state.count -= 1 }
            return isKept
        }
        if !isKept { session.finishTasksAndInvalidate() }
    }

    /// Keeps no session from now on.
    func invalidate() {
        let spare = state.withLock { state in
            defer { (state.spare, state.isInvalid) = ([], true) }
            return state.spare
        }
        spare.forEach { $0.finishTasksAndInvalidate() }
    }
}
#endif
