// Declarations of Darwin that Glibc lacks.
@_exported public import Glibc

package let SO_NOSIGPIPE: Int32 = 0x1022
package let F_FULLFSYNC: Int32 = 51
package let F_BARRIERFSYNC: Int32 = 85

/// As Apple documents it.
@discardableResult
package func sysctlbyname(
    _ name: UnsafePointer<CChar>!, _ value: UnsafeMutableRawPointer!, _ size: UnsafeMutablePointer<Int>!,
    _ newValue: UnsafeMutableRawPointer!,
    _ newSize: Int
) -> Int32 { 0 }

/// As Apple documents it.
public struct os_unfair_lock {
    /// An unlocked lock.
    public init() {}
}

/// As Apple documents it.
public func os_unfair_lock_lock(_ lock: UnsafeMutablePointer<os_unfair_lock>) {}

/// As Apple documents it.
public func os_unfair_lock_unlock(_ lock: UnsafeMutablePointer<os_unfair_lock>) {}
