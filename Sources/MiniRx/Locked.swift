#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A value and the mutex that guards it, in one allocation.
///
/// The house rule: decide under the lock, take out what must be called or released, unlock, then call. Nothing of the user's runs or is
/// released inside `withLock`.
package struct Locked<State>: @unchecked Sendable {  // `State` is reached only under the mutex.
    private final class Buffer: ManagedBuffer<State, pthread_mutex_t> {
        deinit { _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) } }
    }

    private let buffer: ManagedBuffer<State, pthread_mutex_t>

    package init(_ state: State) {
        buffer = Buffer.create(minimumCapacity: 1) { _ in state }
        _ = buffer.withUnsafeMutablePointerToElements { pthread_mutex_init($0, nil) }
    }

    /// Tells this value from every other that is alive.
    package var id: ObjectIdentifier { ObjectIdentifier(buffer) }

    package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try buffer.withUnsafeMutablePointers { state, mutex in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&state.pointee)
        }
    }
}
