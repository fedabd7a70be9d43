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
/// released inside `withLock`. A closure is wrapped in a struct first: bare, it would gain a thunk each time that it is read, set or taken.
@usableFromInline
package struct Locked<State>: @unchecked Sendable {  // `State` is reached only under the mutex.
    @usableFromInline
    final class Buffer: ManagedBuffer<State, Lock.Storage> {
        @inlinable
        deinit { withUnsafeMutablePointerToElements { Lock($0).deinitialize() } }
    }

    @usableFromInline let buffer: ManagedBuffer<State, Lock.Storage>

    @inlinable
    package init(_ state: @autoclosure () -> State) {
        buffer = Buffer.create(minimumCapacity: 1) { _ in state() }
        buffer.withUnsafeMutablePointerToElements { Lock($0).initialize() }
    }

    @inlinable
    package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try buffer.withUnsafeMutablePointers { state, mutex in try Lock(mutex).withLock { try body(&state.pointee) } }
    }
}

/// A mutex by its address. Whoever owns its memory initializes it, and keeps it as long as somebody may lock it.
@usableFromInline
struct Lock: @unchecked Sendable {  // It is there to be locked by any thread.
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

    @inlinable
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        #if canImport(Darwin)
        os_unfair_lock_lock(storage)
        defer { os_unfair_lock_unlock(storage) }
        #else
        pthread_mutex_lock(storage)
        defer { pthread_mutex_unlock(storage) }
        #endif
        return try body()
    }
}

extension Lock {
    /// The mutex for `object`, which others have too: one of its own would be another allocation. What is done under it takes some
    /// nanoseconds and locks nothing else, so that objects on several threads seldom wait for each other.
    @inlinable
    static func shared(by object: AnyObject) -> Lock {
        let address = UInt(bitPattern: ObjectIdentifier(object))
        return Lock(first.storage + Int((address >> 4 ^ address >> 12) & 0xFF))
    }

    /// The first of 256, which stay for the life of the process.
    @usableFromInline static let first: Lock = {
        let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 256)
        for index in 0..<256 { Lock(storage + index).initialize() }
        return Lock(storage)
    }()
}

/// Tells one thread from another.
@usableFromInline
struct ThreadID: Equatable {
    @usableFromInline let id: pthread_t

    @inlinable
    init(_ id: pthread_t) { self.id = id }

    @inlinable static var current: ThreadID { ThreadID(pthread_self()) }
}
