import FlyingFox
import FlyingSocks
import Foundation

/// The servers of one port: for IPv4, and for IPv6 where this machine has it.
final class Listener: Sendable {
    let url: URL
    private let servers: [HTTPServer]

    init(_ options: MockServer.Options, _ handler: MockHandler) async throws {
        let host = options.host ?? "127.0.0.1"
        let shown = host.contains(":") ? "[\(host)]" : host
        var servers: [HTTPServer] = []
        do {
            if let ip4 = try? sockaddr_in.inet(ip4: host, port: options.port) {
                servers.append(try await Self.start(ip4, handler))
            } else if let ip6 = try? sockaddr_in6.inet6(ip6: host, port: options.port) {
                servers.append(try await Self.start(ip6, handler))
            } else {
                servers.append(try await Self.start(sockaddr_in6.inet6(port: options.port), handler))
            }
        } catch let error as SocketError {
            throw ServerError("The server cannot listen on \(shown):\(options.port): \(error.reason). Choose another with --port, or 0.")
        }
        let port = try await servers[0].port
        // "localhost" may be ::1. A machine without IPv6 has no such address.
        if options.host == nil, let ip6 = try? await Self.start(sockaddr_in6.loopback(port: port), handler) { servers.append(ip6) }
        let reachable = ["0.0.0.0": "127.0.0.1", "[::]": "127.0.0.1"][shown] ?? shown
        guard let url = URL(string: "http://\(reachable):\(port)") else { throw ServerError("\"\(host)\" is no host.") }
        (self.url, self.servers) = (url, servers)
    }

    func stop() async { for server in servers { await server.stop() } }

    /// Returns when the server listens. A taken port is told at once.
    private static func start(_ address: some SocketAddress, _ handler: MockHandler) async throws -> HTTPServer {
        let pool = Pool(pool: HTTPServer.defaultPool())
        // A handler may take as long as its stub says; `.infinity` is no time that can be added. A body that is not read is not kept.
        let configuration = HTTPServer.Configuration(
            address: address, timeout: 1e9, sharedRequestReplaySize: 0, pool: pool, logger: .disabled)
        let server = HTTPServer(config: configuration, handler: handler)
        let (starts, start) = AsyncThrowingStream.makeStream(of: Void.self)
        let run = Task {
            do { try await server.run() } catch { start.finish(throwing: error) }
        }
        let wait = Task {
            try await server.waitUntilListening()
            start.finish()
        }
        do { for try await _ in starts {} } catch {
            wait.cancel()
            throw error
        }
        _ = run
        return server
    }
}

extension HTTPServer {
    fileprivate var port: UInt16 {
        get throws {
            switch listeningAddress {
            case .ip4(_, let port), .ip6(_, let port): return port
            case .unix, nil: throw ServerError("The server has stopped.")
            }
        }
    }
}

extension SocketError {
    fileprivate var reason: String {
        guard case .failed(_, let code, _) = self else { return "\(self)" }
        return code == EADDRINUSE ? "another program uses this port" : String(cString: strerror(code))
    }
}

/// A pool that sends each part of an answer at once, and asks for a body that a client holds back.
private struct Pool<Base: AsyncSocketPool>: AsyncSocketPool {
    let pool: Base

    func prepare() async throws { try await pool.prepare() }
    func run() async throws { try await pool.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        // The server writes a head and its body apart. Without this, the body waits until the head is acknowledged, which takes 40 ms.
        try? socket.setValue(1, for: Int32SocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        if events.contains(.read), await Expectation.current?.take() == true {
            _ = try socket.write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        try await pool.suspendSocket(socket, untilReadyFor: events)
    }
}
