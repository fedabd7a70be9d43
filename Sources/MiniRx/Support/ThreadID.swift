import Foundation

/// The identity of a thread.
package struct ThreadID: Equatable {
    /// A number, because a `pthread_t` is a pointer on Apple's systems and with musl, and pointers are not `Sendable`.
    private let number: UInt

    package static var current: ThreadID { ThreadID(number: withUnsafeBytes(of: pthread_self()) { $0.load(as: UInt.self) }) }
}
