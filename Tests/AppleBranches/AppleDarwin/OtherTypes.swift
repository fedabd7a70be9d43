// What Glibc also has, with another type. Two declarations of one name would be ambiguous, so `run` turns `name` into `Darwin_name`.

// MARK: - Threads: a pointer, which is not Sendable

/// As Apple documents it.
public struct _opaque_pthread_t {}
/// As Apple documents it. On Linux with Glibc it is a `UInt`, with musl an `OpaquePointer`.
public typealias Darwin_pthread_t = UnsafeMutablePointer<_opaque_pthread_t>

@discardableResult package func Darwin_pthread_self() -> Darwin_pthread_t { fatalError() }

// MARK: - Files: integers of other sizes

/// As Apple documents it. On Linux it is a `UInt32`.
public typealias Darwin_mode_t = UInt16
/// As Apple documents it. On Linux it is an `Int`.
public typealias Darwin_off_t = Int64
/// As Apple documents it. On Linux it is a `UInt`.
public typealias Darwin_dev_t = Int32
/// As Apple documents it. On Linux it is a `UInt`.
public typealias Darwin_nlink_t = UInt16
/// As Apple documents it. On Linux it is a `UInt`.
public typealias Darwin_ino_t = UInt64

package let Darwin_S_IFMT: Darwin_mode_t = 0o170000
package let Darwin_S_IFIFO: Darwin_mode_t = 0o010000
package let Darwin_S_IFDIR: Darwin_mode_t = 0o040000
package let Darwin_S_IFREG: Darwin_mode_t = 0o100000
package let Darwin_S_IFLNK: Darwin_mode_t = 0o120000
package let Darwin_S_IFSOCK: Darwin_mode_t = 0o140000

/// As Apple documents it. The times have other names, too. The function is `Darwin_stat_of` here, because Swift takes it for an
/// initializer.
public struct Darwin_stat {
    package var st_dev: Darwin_dev_t = 0
    package var st_mode: Darwin_mode_t = 0
    package var st_nlink: Darwin_nlink_t = 0
    package var st_ino: Darwin_ino_t = 0
    package var st_uid: uid_t = 0
    package var st_gid: gid_t = 0
    package var st_mtimespec = timespec()
    package var st_size: Darwin_off_t = 0
    package var st_blocks: Int64 = 0
    package var st_blksize: Int32 = 0

    /// All zero.
    public init() {}
}

@discardableResult package func Darwin_stat_of(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<Darwin_stat>!) -> Int32 { 0 }
@discardableResult package func Darwin_lstat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<Darwin_stat>!) -> Int32 { 0 }
@discardableResult package func Darwin_fstat(_ descriptor: Int32, _ status: UnsafeMutablePointer<Darwin_stat>!) -> Int32 { 0 }
@discardableResult package func Darwin_open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { 0 }
@discardableResult package func Darwin_open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: Darwin_mode_t) -> Int32 { 0 }
@discardableResult package func Darwin_openat(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { 0 }
@discardableResult package func Darwin_openat(
    _ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: Darwin_mode_t
) -> Int32 { 0 }
@discardableResult package func Darwin_fstatat(
    _ folder: Int32, _ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<Darwin_stat>!, _ flags: Int32
) -> Int32 { 0 }
@discardableResult package func Darwin_chmod(_ path: UnsafePointer<CChar>!, _ mode: Darwin_mode_t) -> Int32 { 0 }
@discardableResult package func Darwin_fchmod(_ descriptor: Int32, _ mode: Darwin_mode_t) -> Int32 { 0 }
@discardableResult package func Darwin_mkdir(_ path: UnsafePointer<CChar>!, _ mode: Darwin_mode_t) -> Int32 { 0 }
@discardableResult package func Darwin_mkfifo(_ path: UnsafePointer<CChar>!, _ mode: Darwin_mode_t) -> Int32 { 0 }
@discardableResult package func Darwin_umask(_ mode: Darwin_mode_t) -> Darwin_mode_t { 0 }
@discardableResult package func Darwin_lseek(_ descriptor: Int32, _ offset: Darwin_off_t, _ origin: Int32) -> Darwin_off_t { 0 }
@discardableResult package func Darwin_ftruncate(_ descriptor: Int32, _ length: Darwin_off_t) -> Int32 { 0 }

// MARK: - Sockets and limits: plain integers where Glibc has enumerations, and other sizes

/// As Apple documents it. On Linux it is a `UInt16`.
public typealias Darwin_sa_family_t = UInt8

package let Darwin_SOCK_STREAM: Int32 = 1
package let Darwin_SOCK_DGRAM: Int32 = 2
package let Darwin_RLIMIT_NOFILE: Int32 = 8

/// As Apple documents it, with its length in front.
public struct Darwin_sockaddr_in {
    package var sin_len: UInt8 = 0
    package var sin_family: Darwin_sa_family_t = 0
    package var sin_port: in_port_t = 0
    package var sin_addr = in_addr()

    /// All zero.
    public init() {}
}

/// As Apple documents it. On Linux its fields are `UInt`.
public struct Darwin_rlimit {
    package var rlim_cur: UInt64 = 0
    package var rlim_max: UInt64 = 0

    /// All zero.
    public init() {}
}

@discardableResult package func Darwin_getrlimit(_ resource: Int32, _ limit: UnsafeMutablePointer<Darwin_rlimit>!) -> Int32 { 0 }
@discardableResult package func Darwin_setrlimit(_ resource: Int32, _ limit: UnsafePointer<Darwin_rlimit>!) -> Int32 { 0 }
@discardableResult package func Darwin_poll(_ entries: UnsafeMutablePointer<pollfd>!, _ count: UInt32, _ timeout: Int32) -> Int32 { 0 }

// MARK: - Times

/// As Apple documents it. On Linux the microseconds are an `Int`.
public struct Darwin_timeval {
    package var tv_sec = 0
    package var tv_usec: Int32 = 0

    /// All zero.
    public init() {}
    package init(tv_sec: Int, tv_usec: Int32) {}
}

/// As Apple documents it. On Linux it is an `Int32`.
public struct Darwin_clockid_t: RawRepresentable, Sendable {
    /// As Apple documents it.
    public var rawValue: UInt32
    /// As Apple documents it.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

package let Darwin_CLOCK_MONOTONIC = Darwin_clockid_t(rawValue: 6)
package let Darwin_CLOCK_THREAD_CPUTIME_ID = Darwin_clockid_t(rawValue: 16)
package let Darwin_CLOCK_PROCESS_CPUTIME_ID = Darwin_clockid_t(rawValue: 12)

@discardableResult package func Darwin_clock_gettime(_ clock: Darwin_clockid_t, _ time: UnsafeMutablePointer<timespec>!) -> Int32 { 0 }

// MARK: - Streams and folders: pointers to structures where musl and Glibc have opaque ones

/// As Apple documents it.
public struct Darwin_DIR {}

@discardableResult package func Darwin_opendir(_ path: UnsafePointer<CChar>!) -> UnsafeMutablePointer<Darwin_DIR>! { nil }
@discardableResult package func Darwin_readdir(_ folder: UnsafeMutablePointer<Darwin_DIR>!) -> UnsafeMutablePointer<dirent>! { nil }
@discardableResult package func Darwin_closedir(_ folder: UnsafeMutablePointer<Darwin_DIR>!) -> Int32 { 0 }
