import NIOCore
import NIOHTTP1
import NIOPosix

/// A server that answers `GET /N` with a body of N bytes.
enum Server {
    static func start() throws -> any Channel {
        try ServerBootstrap(group: MultiThreadedEventLoopGroup(numberOfThreads: 1))
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: false)
                    try channel.pipeline.syncOperations.addHandler(Answer())
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: 0).wait()
    }
}

private final class Answer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private var size = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): size = Int(head.uri.dropFirst()) ?? 0
        case .body: break
        case .end:
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "\(size)"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            if size > 0 { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(repeating: 0x61, count: size)))), promise: nil) }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
