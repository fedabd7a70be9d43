package import Foundation
import MiniRx

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A server on a loopback socket that does with each connection what the test says, byte by byte if need be.
///
/// A connection has a thread of its own and serves one request: it is closed when the handler returns.
package final class LoopbackServer: Sendable {
    /// A request as it came over the wire. Names of headers are in lower case.
    package struct Request: Sendable {
        package let method: String
        package let target: String
        package let headers: [String: String]
        package let body: Data
    }

    package let url: URL
    private let log = Log<Request>()
    private let listener: Socket

    package init(_ handle: @escaping @Sendable (Request, Connection) -> Void) throws {
        listener = try Socket.listening()
        url = listener.url
        Thread.detachNewThread { [listener, log] in
            while let socket = listener.accept() {
                Thread.detachNewThread {
                    let connection = Connection(socket: socket)
                    defer { socket.close() }
                    guard let request = connection.readRequest() else { return }
                    log.append(request)
                    handle(request, connection)
                }
            }
            listener.close()
        }
    }

    deinit { listener.shutdown() }

    /// What has come so far.
    package var requests: [Request] { log.entries }

    /// A URL on which nobody listens. The port is kept for the rest of the process, so that nobody else can.
    package static func refusingURL() throws -> URL { try Socket.bound().url }
}

/// The server's end of a connection.
package struct Connection: Sendable {
    fileprivate let socket: Socket

    /// Sends a whole response, with a Content-Length.
    package func respond(_ status: String = "200 OK", headers: [String: String] = [:], body: String = "") {
        var fields = headers
        fields["Content-Length"] = fields["Content-Length"] ?? "\(body.utf8.count)"
        fields["Connection"] = "close"
        let head = fields.sorted { $0.key < $1.key }.map { "\($0): \($1)\r\n" }.joined()
        send("HTTP/1.1 \(status)\r\n\(head)\r\n\(body)")
    }

    /// Sends bytes as they are.
    package func send(_ text: String) { socket.write(Data(text.utf8)) }

    /// Waits until the client has closed its end.
    package func waitUntilClosed() { while socket.read() != nil {} }

    fileprivate func readRequest() -> LoopbackServer.Request? {
        var received = Data()
        let end = Data("\r\n\r\n".utf8)
        while received.range(of: end) == nil {
            guard let bytes = socket.read() else { return nil }
            received += bytes
        }
        guard let head = received.range(of: end) else { return nil }
        let lines = String(decoding: received[..<head.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return nil }
        let headers = lines.dropFirst().reduce(into: [String: String]()) { headers, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        var body = Data(received[head.upperBound...])
        if headers["expect"]?.lowercased() == "100-continue" { send("HTTP/1.1 100 Continue\r\n\r\n") }
        while body.count < Int(headers["content-length"] ?? "") ?? 0, let bytes = socket.read() { body += bytes }
        return .init(method: String(words[0]), target: String(words[1]), headers: headers, body: body)
    }
}

/// A POSIX socket.
private struct Socket: Sendable {
    let descriptor: Int32

    struct Failure: Error { let call: String, code: Int32 }

    static func listening() throws -> Socket {
        let socket = try bound()
        guard listen(socket.descriptor, 128) == 0 else { throw Failure(call: "listen", code: errno) }
        return socket
    }

    static func bound() throws -> Socket {
        #if canImport(Glibc) || canImport(Android)
        let type = Int32(SOCK_STREAM.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        let socket = Socket(descriptor: socket(AF_INET, type, 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket.descriptor, $0, size) == 0 }
        }
        guard isBound else { throw Failure(call: "bind", code: errno) }
        return socket
    }

    var url: URL {
        var components = URLComponents()
        (components.scheme, components.host, components.port) = ("http", "127.0.0.1", port)
        guard let url = components.url else { preconditionFailure("No URL can be made of port \(port).") }
        return url
    }

    private var port: Int {
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
        return accepted >= 0 ? Socket(descriptor: accepted) : nil
    }

    func read() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer[..<count]) : nil
    }

    func write(_ data: Data) {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Wakes whoever waits in `accept` or `read`.
    func shutdown() { _ = Foundation.shutdown(descriptor, Int32(SHUT_RDWR)) }

    func close() { _ = Foundation.close(descriptor) }
}
