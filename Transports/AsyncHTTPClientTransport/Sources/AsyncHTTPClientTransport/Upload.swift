import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix

/// Writes a body in chunks. Each waits until the one before it has been sent.
struct Upload: Sendable {
    static let chunkSize = 65_536

    let writer: HTTPClient.Body.StreamWriter
    /// The number of bytes; `nil` if it is not known.
    let length: Int64?
    /// Reads the next part of the body; `nil` is its end. It may block: a body may come from a disk.
    let nextChunk: @Sendable () throws -> ByteBuffer?

    func run() -> EventLoopFuture<Void> {
        // Only the future of a write tells which event loop it is.
        writer.write(.byteBuffer(ByteBuffer())).flatMapWithEventLoop { _, loop in
            let end = loop.makePromise(of: Void.self)
            writeNext(end, after: 0)
            return end.futureResult
        }
    }

    private func writeNext(_ end: EventLoopPromise<Void>, after count: Int64) {
        // A server that has read all may answer and close the connection before another thread finds the end.
        if count == length { return end.succeed() }
        NIOThreadPool.singleton.runIfActive(eventLoop: end.futureResult.eventLoop, nextChunk).whenComplete { result in
            switch result {
            case .success(nil): end.succeed()
            case .success(let chunk?):
                let count = count + Int64(chunk.readableBytes)
                writer.write(.byteBuffer(chunk)).whenComplete { result in
                    switch result {
                    case .success: writeNext(end, after: count)
                    case .failure(let error): end.fail(error)
                    }
                }
            case .failure(let error): end.fail(error)
            }
        }
    }
}
