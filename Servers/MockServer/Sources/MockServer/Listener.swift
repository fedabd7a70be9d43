import FlyingFox
import FlyingSocks
import Foundation

/// The servers of one port: for IPv4, and for IPv6 where this machine has it.
final class Listener: Sendable {
    let url: URL
    private let servers: [Task<Void, Never>]

    init(_ options: MockServer.Options, _ handler: MockHandler) async throws {
        let host = options.host ?? "127.0.0.1"
        let shown = host.contains(":") ? "[\(host)]" : host
        var (port, servers) = (options.port, [Task<Void, Never>]())
        func listen(_ address: @escaping @Sendable (UInt16) throws -> some SocketAddress) async throws {
            let (chosen, server) = try await Self.start(handler, on: port, address)
            port = chosen
            servers.append(server)
        }
        do {
            if (try? sockaddr_in.inet(ip4: host, port: 0)) != nil {
                try await listen { try sockaddr_in.inet(ip4: host, port: $0) }
            } else if (try? sockaddr_in6.inet6(ip6: host, port: 0)) != nil {
                try await listen { try sockaddr_in6.inet6(ip6: host, port: $0) }
            } else {
                try await listen { sockaddr_in6.inet6(port: $0) }
            }
        } catch let error as SocketError {
            throw ServerError("The server cannot listen on \(shown):\(port): \(error.reason). Choose another with --port, or 0.")
        }
        // "localhost" may be ::1. A machine without IPv6 has no such address.
        if options.host == nil { try? await listen { sockaddr_in6.loopback(port: $0) } }
        let reachable = ["0.0.0.0": "127.0.0.1", "[::]": "127.0.0.1"][shown] ?? shown
        guard let url = URL(string: "http://\(reachable):\(port)") else { throw ServerError("\"\(host)\" is no host.") }
        (self.url, self.servers) = (url, servers)
    }

    func stop() async {
        for server in servers { server.cancel() }
        for server in servers { await server.value }
    }

    /// Returns when the server listens. A taken port is told at once.
    private static func start(
        _ handler: MockHandler, on port: UInt16, _ address: @escaping @Sendable (UInt16) throws -> some SocketAddress
    ) async throws -> (port: UInt16, server: Task<Void, Never>) {
        let (ports, listens) = AsyncThrowingStream.makeStream(of: UInt16.self)
        let task = Task {
            var port = port
            while !Task.isCancelled {
                // An answer may begin this late. On Linux, each request keeps 700 bytes for this time, even if it ends sooner: a sleep that
                // is cancelled keeps its timer. A body that is not read is not kept.
                let pool = Pool(pool: HTTPServer.defaultPool())
                do {
                    let server = HTTPServer(
                        config: HTTPServer.Configuration(
                            address: try address(port), timeout: 300, sharedRequestReplaySize: 0, pool: pool, logger: .disabled),
                        handler: handler)
                    let start = Task {
                        // It is canceled if the server ends. On a machine under load, the default of 5 seconds may be too short.
                        try await server.waitUntilListening(timeout: 300)
                        guard let port = await server.port else { throw CancellationError() }
                        listens.yield(port)
                        return port
                    }
                    do { try await server.run() } catch { listens.finish(throwing: error) }
                    start.cancel()
                    port = (try? await start.value) ?? port
                } catch { listens.finish(throwing: error) }
                // It ends if it cannot accept a connection, as when the process has too many files. Then it listens again.
                try? await Task.sleep(nanoseconds: 50_000_000)
            }
        }
        do {
            for try await port in ports { return (port, task) }
            throw CancellationError()
        } catch {
            task.cancel()
            throw error
        }
    }
}

extension HTTPServer {
    fileprivate var port: UInt16? {
        switch listeningAddress {
        case .ip4(_, let port), .ip6(_, let port): port
        case .unix, nil: nil
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
