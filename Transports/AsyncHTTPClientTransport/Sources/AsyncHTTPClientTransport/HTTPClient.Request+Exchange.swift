import APIProvider
import AsyncHTTPClient
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPClient.Request {
    /// Creates the client's request of an exchange.
    ///
    /// - Parameter acceptsGzip: Whether the client is known to decompress.
    init(_ exchange: Exchange, acceptsGzip: Bool) throws {
        let request = exchange.request
        guard let url = request.url else { throw URLError(.badURL) }
        var headers = NIOHTTP1.HTTPHeaders()
        for (name, value) in request.allHTTPHeaderFields ?? [:] where name.lowercased() != "content-length" {
            headers.add(name: name, value: value)
        }
        if !headers.contains(name: "Accept") { headers.add(name: "Accept", value: "*/*") }
        // Some servers send a "deflate" without its zlib header, which the client does not read.
        if acceptsGzip, !headers.contains(name: "Accept-Encoding") { headers.add(name: "Accept-Encoding", value: "gzip") }
        try self.init(
            url: url, method: HTTPMethod(rawValue: request.httpMethod ?? "GET"), headers: headers,
            body: HTTPClient.Body(request, length: exchange.bodyLength))
    }
}

extension HTTPClient.Body {
    /// The body of `request`, which is sent as fast as the server reads it.
    fileprivate init?(_ request: URLRequest, length: Int64?) {
        if let data = request.httpBody, data.count <= Upload.chunkSize {
            self = .byteBuffer(ByteBuffer(data: data))
        } else if let data = request.httpBody {
            self = .stream(contentLength: Int64(data.count)) { writer in
                let rest = NIOLockedValueBox(data[...])
                return Upload(writer: writer, length: length) { rest.withLockedValue { $0.takeChunk() } }.run()
            }
        } else if let stream = request.httpBodyStream {
            let chunks = StreamChunks(stream)
            self = .stream(contentLength: length) { Upload(writer: $0, length: length, nextChunk: chunks.next).run() }
        } else {
            return nil
        }
    }
}

extension Data {
    fileprivate mutating func takeChunk() -> ByteBuffer? {
        guard !isEmpty else { return nil }
        defer { self = dropFirst(Upload.chunkSize) }
        return ByteBuffer(data: prefix(Upload.chunkSize))
    }
}

/// Reads a stream, which cannot be read twice.
private final class StreamChunks: @unchecked Sendable {  // One thread at a time calls `next`.
    private let stream: InputStream
    /// Reused for each chunk: the one before has been sent by then.
    private var chunk = ByteBuffer()

    init(_ stream: InputStream) { self.stream = stream }

    deinit { stream.close() }

    @Sendable func next() throws -> ByteBuffer? {
        if stream.streamStatus == .notOpen { stream.open() }
        chunk.clear(minimumCapacity: Upload.chunkSize)
        let count = chunk.writeWithUnsafeMutableBytes(minimumWritableBytes: Upload.chunkSize) { bytes in
            guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return 0 }
            return max(stream.read(start, maxLength: bytes.count), 0)
        }
        // On Linux, `streamError` of a stream without an error ends the process (Swift 6.3).
        if count == 0, stream.streamStatus == .error, let error = stream.streamError { throw error }
        return count > 0 ? chunk : nil
    }
}
