import Foundation

/// The identity of a thread.
struct ThreadID: Equatable {
    private let id: pthread_t

    static var current: ThreadID { ThreadID(id: pthread_self()) }
}
