// Declarations of Darwin that Glibc lacks or declares differently.
@_exported public import Glibc

package let SOCK_STREAM: Int32 = 1
package let SO_NOSIGPIPE: Int32 = 0x1022
package let RLIMIT_NOFILE: Int32 = 8
package let F_BARRIERFSYNC: Int32 = 85

package func getrlimit(_ resource: Int32, _ limit: UnsafeMutablePointer<rlimit>!) -> Int32 { 0 }
package func setrlimit(_ resource: Int32, _ limit: UnsafePointer<rlimit>!) -> Int32 { 0 }

/// As Apple documents it.
public struct os_unfair_lock {
    /// An unlocked lock.
    public init() {}
}

/// As Apple documents it.
public func os_unfair_lock_lock(_ lock: UnsafeMutablePointer<os_unfair_lock>) {}

/// As Apple documents it.
public func os_unfair_lock_unlock(_ lock: UnsafeMutablePointer<os_unfair_lock>) {}

extension stat {
    /// As Apple documents it.
    package var st_mtimespec: timespec { st_mtim }
}
