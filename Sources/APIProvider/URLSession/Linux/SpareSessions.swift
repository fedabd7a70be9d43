#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import MiniRx

/// Sessions with kept connections, each for one request at a time.
final class SpareSessions: Sendable {
    private let limit: Int
    /// `nil` after ``invalidate()``.
    private let sessions = Locked<[URLSession]?>([])

    /// - Parameter limit: How many sessions are kept. Each has file descriptors.
    init(limit: Int) { self.limit = limit }

    /// The session that was added last, if there is one: its connections are the most likely to be open.
    func take() -> URLSession? { sessions.withLock { $0?.popLast() } }

    /// Keeps `session` for a later request.
    func add(_ session: URLSession) {
        let isKept = sessions.withLock { sessions in
            guard let count = sessions?.count, count < limit else { return false }
            sessions?.append(session)
            return true
        }
        if !isKept { session.finishTasksAndInvalidate() }
    }

    /// Keeps no session from now on.
    func invalidate() { sessions.withLock { $0.take() }?.forEach { $0.finishTasksAndInvalidate() } }
}
#endif
