import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A POSIX socket.
struct Socket: Sendable {
    let descriptor: Int32

    struct Failure: Error { let call: String, code: Int32 }

    /// The programs that other tests start do not inherit it, or a port that is closed here would stay open there.
    private init(ofThisProcess descriptor: Int32) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    static func listening() throws -> Socket {
        let socket = try bound()
        guard listen(socket.descriptor, 128) == 0 else { throw Failure(call: "listen", code: errno) }
        return socket
    }

    static func bound() throws -> Socket {
        let socket = unbound()
        guard withAddress(port: 0, { bind(socket.descriptor, $0, $1) }) == 0 else { throw Failure(call: "bind", code: errno) }
        return socket
    }

    /// Opens a connection to `port` and closes it, to wake a thread in `accept`.
    static func knock(at port: Int) {
        let socket = unbound()
        _ = withAddress(port: port) { connect(socket.descriptor, $0, $1) }
        socket.close()
    }

    /// A process begins with 256 descriptors on a Mac and with 1,024 on many Linux systems, too few for all servers of tests that run at once.
    private static let hasManyDescriptors: Bool = {
        #if canImport(Glibc)
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let files = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return false }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 4096))
        return setrlimit(files, &limit) == 0
    }()

    private static func unbound() -> Socket {
        _ = hasManyDescriptors
        #if canImport(Glibc) || canImport(Android)
        let type = Int32(SOCK_STREAM.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        return Socket(ofThisProcess: socket(AF_INET, type, 0))
    }

    private static func withAddress(port: Int, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    var url: URL {
        var components = URLComponents()
        (components.scheme, components.host, components.port) = ("http", "127.0.0.1", port)
        guard let url = components.url else { preconditionFailure("No URL can be made of port \(port).") }
        return url
    }

    var port: Int {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    func accept() -> Socket? {
        let accepted = Foundation.accept(descriptor, nil, nil)
        #if canImport(Darwin)
        var isOn: Int32 = 1
        setsockopt(accepted, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return accepted >= 0 ? Socket(ofThisProcess: accepted) : nil
    }

    func read() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer[..<count]) : nil
    }

    func write(_ data: Data) -> Bool {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Whether a write within so many milliseconds would not wait.
    func isWritable(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    /// Sends a FIN: there are no more bytes to come.
    func finish() { _ = Foundation.shutdown(descriptor, Int32(SHUT_WR)) }

    /// Lets `close` send an RST.
    func dropUnsent() {
        var nothing = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &nothing, socklen_t(MemoryLayout<linger>.size))
    }

    func close() { _ = Foundation.close(descriptor) }
}
