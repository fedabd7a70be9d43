package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension URLRequest {
    /// Sets the body: bytes in memory as they are, and files as a stream.
    mutating func setBody(_ pieces: [BodyPiece]) throws {
        if pieces.contains(where: \.isFile) { httpBodyStream = BodyStream(pieces) } else { httpBody = try pieces.data() }
    }

    /// Whether it is a GET or a HEAD without a body.
    package var isPlainGET: Bool { ["GET", "HEAD"].contains(httpMethod ?? "GET") && httpBody == nil && httpBodyStream == nil }

    /// Whether the request may reach a server twice: by its method (RFC 9110, section 9.2.2), or because it has an Idempotency-Key.
    var isIdempotent: Bool { isIdempotent([.get, .head, .options, .trace, .put, .delete]) }

    /// Whether the request may reach a server twice, if those with these methods may.
    func isIdempotent(_ methods: Set<HTTPMethod>) -> Bool {
        methods.contains(HTTPMethod(rawValue: httpMethod ?? "GET")) || value(forHTTPHeaderField: "Idempotency-Key") != nil
    }

    /// The body in memory, or `nil` if there is none.
    package var bodyInMemory: Data? { httpBody ?? (try? (httpBodyStream as? BodyStream)?.data()) }

    /// The first bytes of the body, at most `count`, or `nil` if there is none.
    func bodyPrefix(_ count: Int) -> Data? {
        httpBody?.prefix(count) ?? (httpBodyStream as? BodyStream).map { Data(reading: $0.unread, atMost: count) }
    }

    /// The pieces of the body, or `nil` if it is another `InputStream`. No transport sends one.
    var bodyPieces: [BodyPiece]? {
        guard let httpBodyStream else { return [httpBody].compactMap { $0 }.map(BodyPiece.data) }
        return (httpBodyStream as? BodyStream)?.pieces
    }

    var withoutBody: URLRequest {
        var request = self
        request.httpBodyStream = nil
        request.httpBody = nil
        return request
    }

    /// The number of bytes of the body.
    package var bodyLength: Int64 { Int64(httpBody?.count ?? (httpBodyStream as? BodyStream)?.length ?? 0) }

    /// The request with a body that has not been read.
    var withUnreadBody: URLRequest {
        guard let stream = httpBodyStream as? BodyStream else { return self }
        var request = self
        request.httpBodyStream = stream.unread
        return request
    }

    /// The request with the body in memory.
    package func withBodyInMemory() throws -> URLRequest {
        guard let stream = httpBodyStream as? BodyStream else { return self }
        var request = self
        request.httpBody = try stream.data()
        return request
    }
}

extension Data {
    /// Reads the bytes of `stream`, at most `limit`.
    package init(reading stream: InputStream, atMost limit: Int = .max) {
        self.init()
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: Swift.min(limit, 65_536))
        while case let read = stream.read(&buffer, maxLength: Swift.min(buffer.count, limit - count)), read > 0 {
            append(contentsOf: buffer[..<read])
        }
    }
}
