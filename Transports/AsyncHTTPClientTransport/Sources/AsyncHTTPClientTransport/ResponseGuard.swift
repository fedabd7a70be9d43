import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTPCompression

/// Keeps from the client two kinds of responses that it does not expect. It stands behind the decompressor of a connection.
final class ResponseGuard: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private var isRefused = false
    private var isEmpty = true

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            isEmpty = true
            // The client takes a status below 100 for a 1xx, and ends the process when a body comes (AsyncHTTPClient 1.37).
            isRefused = head.status.code < 100
            if isRefused { context.fireErrorCaught(HTTPParserError.invalidStatus) }
        case .body:
            isEmpty = false
        case .end:
            break
        }
        if !isRefused { context.fireChannelRead(data) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A body without a byte, as a HEAD has, is not one that breaks off (swift-nio-extras 1.35).
        if isEmpty, error as? NIOHTTPDecompression.ExtraDecompressionError == .truncatedData { return }
        context.fireErrorCaught(error)
    }

    typealias ChannelInitializer = @Sendable (any Channel) -> EventLoopFuture<Void>

    /// Adds a guard to a channel of a client that decompresses, and calls `next`.
    static func adding(before next: ChannelInitializer?) -> ChannelInitializer {
        { channel in
            let guarded = channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(ResponseGuard(), position: .after(pipeline.handler(type: NIOHTTPResponseDecompressor.self)))
            }
            return next.map { next in guarded.flatMap { next(channel) } } ?? guarded
        }
    }
}
