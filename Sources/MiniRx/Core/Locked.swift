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
/// Decide under the lock, take out what you must call or release, unlock, then call. No closure of the user runs inside `withLock`, and no
/// object of the user is released there. Wrap a closure in a struct, such as ``Action``, before you store it here: a bare one would get one
/// more thunk each time it is read or set.
@usableFromInline
package struct Locked<Value>: @unchecked Sendable {  // `Value` is used only under the mutex.
    @usableFromInline
    final class Buffer: ManagedBuffer<Value, Lock.Storage> {
        @inlinable
        deinit { withUnsafeMutablePointerToElements { Lock($0).deinitialize() } }
    }

    @usableFromInline let buffer: ManagedBuffer<Value, Lock.Storage>

    @inlinable
    package init(_ value: @autoclosure () -> Value) {
        buffer = Buffer.create(minimumCapacity: 1) { _ in value() }
        buffer.withUnsafeMutablePointerToElements { Lock($0).initialize() }
    }

    @inlinable
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try buffer.withUnsafeMutablePointers { value, mutex in try Lock(mutex).withLock { try body(&value.pointee) } }
    }
}

/// A mutex in memory that somebody else owns. The owner initializes it, and keeps it while anybody may lock it.
@usableFromInline
struct Lock: @unchecked Sendable {  // A mutex is made to be locked by any thread.
    #if canImport(Darwin)
    @usableFromInline typealias Storage = os_unfair_lock
    #else
    @usableFromInline typealias Storage = pthread_mutex_t
    #endif

    @usableFromInline let storage: UnsafeMutablePointer<Storage>

    @inlinable
    init(_ storage: UnsafeMutablePointer<Storage>) { self.storage = storage }

    @inlinable
    func initialize() {
        #if canImport(Darwin)
        storage.initialize(to: os_unfair_lock())
        #else
        pthread_mutex_init(storage, nil)
        #endif
    }

    @inlinable
    func deinitialize() {
        #if !canImport(Darwin)
        pthread_mutex_destroy(storage)
        #endif
    }

    /// The result outlives the lock, also if the caller drops it. Without ``withExtendedLifetime`` an optimized build releases such a result
    /// while the mutex is locked, and a `deinit` that comes back here would wait for itself.
    @inlinable
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock()
        do {
            let result = try body()
            unlock()
            return withExtendedLifetime(result) { result }
        } catch {
            unlock()
            throw error
        }
    }

    @inlinable
    func lock() {
        #if canImport(Darwin)
        os_unfair_lock_lock(storage)
        #else
        pthread_mutex_lock(storage)
        #endif
    }

    @inlinable
    func unlock() {
        #if canImport(Darwin)
        os_unfair_lock_unlock(storage)
        #else
        pthread_mutex_unlock(storage)
        #endif
    }
}

extension Lock {
    /// Returns the mutex of `object`, which it shares with other objects. A mutex of its own would need another allocation.
    ///
    /// Work under this mutex must take only nanoseconds and lock nothing else. Then objects on different threads seldom wait for each other.
    @inlinable
    static func shared(by object: AnyObject) -> Lock {
        let address = UInt(bitPattern: ObjectIdentifier(object))
        return Lock(first.storage + Int((address >> 4 ^ address >> 12) & 0xFF))
    }

    /// The first of 256 mutexes, which live as long as the process.
    @usableFromInline static let first: Lock = {
        let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 256)
        for index in 0..<256 { Lock(storage + index).initialize() }
        return Lock(storage)
    }()
}

/// The identity of a thread.
@usableFromInline
struct ThreadID: Equatable {
    @usableFromInline let id: pthread_t

    @inlinable
    init(_ id: pthread_t) { self.id = id }

    @inlinable static var current: ThreadID { ThreadID(pthread_self()) }
}
