@_spi(Transports) import APIProviderTransport
import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat
import NIOPosix

/// Writes a body in chunks. Each waits until the one before it has been sent.
struct Upload: Sendable {
    static let chunkSize = 65_536

    let body: RequestBody
    let writer: HTTPClient.Body.StreamWriter

    func run() -> EventLoopFuture<Void> {
        // Only the future of a write tells which event loop it is.
        writer.write(.byteBuffer(ByteBuffer())).flatMapWithEventLoop { _, loop in
            let end = loop.makePromise(of: Void.self)
            writeNext(of: body.makeReader(), end, after: 0)
            return end.futureResult
        }
    }

    private func writeNext(of reader: RequestBody.Reader, _ end: EventLoopPromise<Void>, after count: Int) {
        // A server that has read all may answer and close the connection before another thread finds the end.
        guard count < body.count else { return end.succeed() }
        // Reading may wait for a disk.
        NIOThreadPool.singleton.runIfActive(eventLoop: end.futureResult.eventLoop) {
            var reader = reader
            let chunk = try reader.read(upToCount: Self.chunkSize)
            return (chunk.map { ByteBuffer(data: $0) }, reader)
        }.whenComplete { (result: Result<(ByteBuffer?, RequestBody.Reader), any Error>) in
            switch result {
            case .success((nil, _)): end.succeed()
            case .success((let chunk?, let reader)):
                let count = count + chunk.readableBytes
                writer.write(.byteBuffer(chunk)).whenComplete { result in
                    switch result {
                    case .success: writeNext(of: reader, end, after: count)
                    case .failure(let error): end.fail(error)
                    }
                }
            case .failure(let error): end.fail(error)
            }
        }
    }
}
