package import Foundation
import MiniRx

/// A server on a loopback socket. The test decides what it does with each connection, byte by byte if need be.
///
/// Each connection has its own thread. When the handler returns, the server closes its end and waits for the client to close the other.
package final class LoopbackServer: Sendable {
    /// A request. The names of its headers are in lower case.
    package struct Request: Sendable {
        package let method: String
        package let target: String
        package let headers: [String: String]
        package let body: Data
    }

    package let url: URL
    private let log = Log<Request>()
    private let connections = OpenCount()
    private let port: Int
    private let isOver = Locked(false)

    /// A server that reads one request from each connection.
    package convenience init(_ handle: @escaping @Sendable (Request, Connection) -> Void) throws {
        try self.init(connected: { connection in
            guard let request = connection.readRequest() else { return }
            handle(request, connection)
        })
    }

    /// A server that reads nothing by itself, and listens no more after its last connection.
    package init(maximumConnections: Int = .max, connected handle: @escaping @Sendable (Connection) -> Void) throws {
        let listener = try Socket.listening()
        url = listener.url
        port = listener.port
        Thread.detachNewThread { [log, connections, isOver] in
            var left = maximumConnections
            while left > 0, let socket = listener.accept() {
                left -= 1
                guard !isOver.withLock({ $0 }) else {
                    socket.close()
                    break
                }
                connections.opened()
                Thread.detachNewThread {
                    let connection = Connection(socket: socket, log: log)
                    handle(connection)
                    connection.end()
                    connections.closed()
                }
            }
            listener.close()
        }
    }

    deinit {
        isOver.withLock { $0 = true }
        // On macOS a `shutdown` of the listener would not wake it.
        Socket.knock(at: port)
    }

    /// The requests so far.
    package var requests: [Request] { log.entries }

    /// Returns once no connection is open any more at either end.
    package func allClosed() async { await connections.zero() }

    /// A URL whose port refuses connections. The process keeps the port, so no other can listen there.
    package static func refusingURL() throws -> URL { try Socket.bound().url }
}

/// The server's end of a connection.
package struct Connection: Sendable {
    fileprivate let socket: Socket
    fileprivate let log: Log<LoopbackServer.Request>
    private let isReset = Locked(false)

    fileprivate init(socket: Socket, log: Log<LoopbackServer.Request>) {
        self.socket = socket
        self.log = log
    }

    /// Sends a whole response, with a Content-Length.
    package func respond(_ status: String = "200 OK", headers: [String: String] = [:], body: String = "") {
        var fields = headers
        fields["Content-Length"] = fields["Content-Length"] ?? "\(body.utf8.count)"
        fields["Connection"] = "close"
        let head = fields.sorted { $0.key < $1.key }.map { "\($0): \($1)\r\n" }.joined()
        send("HTTP/1.1 \(status)\r\n\(head)\r\n\(body)")
    }

    /// Sends bytes as they are.
    @discardableResult
    package func send(_ text: String) -> Bool { send(Data(text.utf8)) }

    /// Sends bytes as they are. False once the client has closed its end.
    @discardableResult
    package func send(_ bytes: Data) -> Bool { socket.write(bytes) }

    /// Sends `chunk` again and again, until the client takes none of it for half a second. Returns how many bytes it took, or `nil` if it
    /// took `total` or has closed its end.
    package func sendUntilHeldBack(_ chunk: Data, total: Int) -> Int? {
        var sent = 0
        while sent < total {
            guard socket.isWritable(within: 500) else { return sent }
            guard socket.write(chunk) else { return nil }
            sent += chunk.count
        }
        return nil
    }

    /// Ends the connection with an RST instead of a FIN.
    package func reset() { isReset.withLock { $0 = true } }

    /// Waits for some bytes; `nil` when the client has closed its end.
    @discardableResult
    package func readSome() -> Data? { socket.read() }

    /// Waits until the client has closed its end.
    package func waitUntilClosed() { while readSome() != nil {} }

    fileprivate func end() {
        if isReset.withLock({ $0 }) {
            socket.dropUnsent()
        } else {
            socket.finish()
            waitUntilClosed()
        }
        socket.close()
    }

    /// Reads a request with its body; `nil` when the client has closed its end.
    package func readRequest() -> LoopbackServer.Request? {
        guard let (head, start) = readHead() else { return nil }
        var body = start
        if head.headers["expect"]?.lowercased() == "100-continue" { send("HTTP/1.1 100 Continue\r\n\r\n") }
        while body.count < Int(head.headers["content-length"] ?? "") ?? 0, let bytes = socket.read() { body += bytes }
        let request = LoopbackServer.Request(method: head.method, target: head.target, headers: head.headers, body: body)
        log.append(request)
        return request
    }

    /// Reads the head of a request, and the part of its body that comes with it.
    @discardableResult
    package func readHead() -> (head: LoopbackServer.Request, bodyStart: Data)? {
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
        let request = LoopbackServer.Request(method: String(words[0]), target: String(words[1]), headers: headers, body: Data())
        return (request, Data(received[head.upperBound...]))
    }
}
