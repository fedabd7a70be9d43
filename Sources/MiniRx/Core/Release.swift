#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The release of a resource, on this thread.
///
/// A resource may be the subscription to another single. If it is disposed only because its event has ended this one, that is no wish of
/// the user, and its `after…` closures still run.
@usableFromInline
enum Release {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Whether this thread releases a resource because of an event.
    static var isUnderWay: Bool { pthread_getspecific(key) != nil }

    /// Disposes `resource`.
    @usableFromInline
    static func of(_ resource: any Disposable, byUser: Bool) {
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, byUser ? nil : UnsafeMutableRawPointer(bitPattern: 1))
        resource.dispose()
        pthread_setspecific(key, outer)
    }
}
