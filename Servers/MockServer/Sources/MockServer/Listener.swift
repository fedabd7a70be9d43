import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// The listening sockets of one port: for IPv4, and for IPv6 where this machine has it.
final class Listener: Sendable {
    let url: URL
    private let servers: [Server]

    private struct Server: Sendable {
        let channel: any Channel
        let connections: Task<Void, Never>

        var port: Int { channel.localAddress?.port ?? 0 }

        func stop() async {
            channel.close(promise: nil)
            await connections.value
        }
    }

    /// - Throws: A sentence, such as for a port that is taken.
    init(_ options: MockServer.Options, _ handler: MockHandler) async throws {
        var options = options
        if options.host?.lowercased() == "localhost" { options.host = nil }
        let host = options.host ?? "127.0.0.1"
        let shown = host.contains(":") ? "[\(host)]" : host
        do { servers = try await Self.listen(options, handler, attempts: options.port == 0 ? 10 : 1) } catch {
            throw ServerError("The server cannot listen on \(shown):\(options.port): \((error as? IOError)?.reason ?? "\(error)")")
        }
        let reachable = ["0.0.0.0": "127.0.0.1", "[::]": "127.0.0.1"][shown] ?? shown
        guard let url = URL(string: "http://\(reachable):\(servers[0].port)") else {
            for server in servers { await server.stop() }
            throw ServerError("\"\(host)\" is no host.")
        }
        self.url = url
    }

    /// - Parameter attempts: A port that is free on 127.0.0.1 may be taken on ::1.
    private static func listen(_ options: MockServer.Options, _ handler: MockHandler, attempts: Int) async throws -> [Server] {
        let host = options.host ?? "127.0.0.1"
        let isName = host.range(of: "^[A-Za-z0-9_.-]*[A-Za-z][A-Za-z0-9_.-]*$", options: .regularExpression) != nil
        // A name stands for all addresses.
        guard let address = try? SocketAddress(ipAddress: isName ? "::" : host, port: Int(options.port)) else {
            throw ServerError("\"\(host)\" is no host.")
        }
        let first = try await listen(on: address, handler)
        guard options.host == nil else { return [first] }
        // "localhost" may be ::1. A machine without IPv6 has no such address.
        do { return [first, try await listen(on: SocketAddress(ipAddress: "::1", port: first.port), handler)] } catch let error as IOError
            where [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode)
        { return [first] } catch {
            await first.stop()
            guard attempts > 1 else { throw error }
            return try await listen(options, handler, attempts: attempts - 1)
        }
    }

    /// Ends all connections, and their answers.
    func stop() async { for server in servers { await server.stop() } }

    private enum Event {
        case began(Connection.Messages)
        case ended(ObjectIdentifier)
    }

    private static func listen(on address: SocketAddress, _ handler: MockHandler) async throws -> Server {
        let (events, event) = AsyncStream.makeStream(of: Event.self)
        // A group of its own would have to be shut down, which a process does only once.
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                // With too many open files, it tries again later, and not at once.
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler()) }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Errors of the parser come to the connection in the order of the requests, so that it answers in that order.
                    var encoder = HTTPResponseEncoder.Configuration()
                    encoder.automaticallySetFramingHeaders = false
                    try channel.pipeline.syncOperations.addHandler(AbandonmentHandler())
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                        withPipeliningAssistance: false, withErrorHandling: false, withEncoderConfiguration: encoder)
                    let messages = try Connection.Messages(wrappingChannelSynchronously: channel)
                    if case .terminated = event.yield(.began(messages)) { channel.close(promise: nil) }
                    channel.closeFuture.whenComplete { _ in event.yield(.ended(ObjectIdentifier(channel))) }
                }
            }
            .bind(to: address).get()
        channel.closeFuture.whenComplete { _ in event.finish() }
        // Its tasks are in the scope of the mock of who starts the server. No event loop is.
        let connections = Task {
            var open: [ObjectIdentifier: Task<Void, Never>] = [:]
            for await event in events {
                switch event {
                case .began(let messages):
                    open[ObjectIdentifier(messages.channel)] = Task { await Connection.serve(messages, handler) }
                case .ended(let connection): open.removeValue(forKey: connection)?.cancel()
                }
            }
            for task in open.values { task.cancel() }
            for task in open.values { await task.value }
        }
        return Server(channel: channel, connections: connections)
    }
}

/// Ends the connection of a client that has ended its own side, when nothing was written for a minute: it has left, or waits for an answer
/// that may never come. Only a write would tell.
final class AbandonmentHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = IOData

    private var end: Scheduled<Void>?

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { scheduleEnd(context) }
        context.fireUserInboundEventTriggered(event)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if end != nil { scheduleEnd(context) }
        context.write(data, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) { end?.cancel() }

    private func scheduleEnd(_ context: ChannelHandlerContext) {
        end?.cancel()
        let channel = context.channel
        end = context.eventLoop.scheduleTask(in: .seconds(60)) { channel.close(promise: nil) }
    }
}

extension IOError {
    fileprivate var reason: String {
        switch errnoCode {
        case EADDRINUSE: "another program uses this port. Choose another with --port, or 0."
        case EPERM: "the system forbids it. In a sandbox, the program needs the entitlement com.apple.security.network.server."
        default: "\(String(cString: strerror(errnoCode)))."
        }
    }
}
