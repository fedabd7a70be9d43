#if canImport(Darwin)
public import Darwin
#elseif canImport(Glibc)
public import Glibc
#elseif canImport(Musl)
public import Musl
#elseif canImport(Android)
public import Android
#endif

/// A value and the mutex that guards it, in one allocation.
///
/// The house rule: decide under the lock, take out what must be called or released, unlock, then call. Nothing of the user's runs or is
/// released inside `withLock`. It is inlinable, and with it the hot path of `Single`, because a generic that a client cannot specialise costs
/// several times what it does.
@usableFromInline
package struct Locked<State>: @unchecked Sendable {  // `State` is reached only under the mutex.
    @usableFromInline
    final class Buffer: ManagedBuffer<State, pthread_mutex_t> {
        @inlinable
        deinit { _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) } }
    }

    @usableFromInline let buffer: ManagedBuffer<State, pthread_mutex_t>

    @inlinable
    package init(_ state: @autoclosure () -> State) {
        buffer = Buffer.create(minimumCapacity: 1) { _ in state() }
        _ = buffer.withUnsafeMutablePointerToElements { pthread_mutex_init($0, nil) }
    }

    /// Tells this value from every other that is alive.
    @inlinable package var id: ObjectIdentifier { ObjectIdentifier(buffer) }

    @inlinable
    package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try buffer.withUnsafeMutablePointers { state, mutex in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&state.pointee)
        }
    }
}
