public import Foundation

/// A value and the lock that guards it.
///
/// Decide under the lock, take out closures and objects, unlock, then call and release. No user's closure runs inside `withLock`, and no
/// user's object is released there.
///
/// `@usableFromInline`, because a `package` type alone is not inlined in other modules.
@usableFromInline
package struct Locked<Value: Sendable>: @unchecked Sendable {  // The lock guards `Value`.
    #if canImport(Darwin)
    @usableFromInline typealias Mutex = os_unfair_lock
    #else
    @usableFromInline typealias Mutex = pthread_mutex_t
    #endif

    /// A lock needs a stable address, such as the tail-allocated storage of a `ManagedBuffer`.
    private final class Buffer: ManagedBuffer<Value, Mutex> {
        #if !canImport(Darwin)
        deinit { _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) } }
        #endif
    }

    @usableFromInline let buffer: ManagedBuffer<Value, Mutex>

    package init(_ value: @autoclosure () -> Value) {
        buffer = Buffer.create(minimumCapacity: 1) { _ in value() }
        #if canImport(Darwin)
        buffer.withUnsafeMutablePointerToElements { $0.initialize(to: os_unfair_lock()) }
        #else
        _ = buffer.withUnsafeMutablePointerToElements { pthread_mutex_init($0, nil) }
        #endif
    }

    /// Calls `body` with the value, under the lock. Even an ignored result is released after unlocking.
    ///
    /// Inlined in other modules, too: a generic call costs several times as much as the lock.
    @inlinable @inline(__always)
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try buffer.withUnsafeMutablePointers { value, mutex in
            lock(mutex)
            do {
                let result = try body(&value.pointee)
                unlock(mutex)
                return withExtendedLifetime(result) { result }
            } catch {
                unlock(mutex)
                throw error
            }
        }
    }

    @inlinable func lock(_ mutex: UnsafeMutablePointer<Mutex>) {
        #if canImport(Darwin)
        os_unfair_lock_lock(mutex)
        #else
        pthread_mutex_lock(mutex)
        #endif
    }

    @inlinable func unlock(_ mutex: UnsafeMutablePointer<Mutex>) {
        #if canImport(Darwin)
        os_unfair_lock_unlock(mutex)
        #else
        pthread_mutex_unlock(mutex)
        #endif
    }
}

/// A closure for a `Locked`. A bare closure would get a thunk at each store and load.
package struct Action: Sendable {
    private let run: @Sendable () -> Void

    package init(_ run: @escaping @Sendable () -> Void) { self.run = run }

    package func callAsFunction() { run() }
}
