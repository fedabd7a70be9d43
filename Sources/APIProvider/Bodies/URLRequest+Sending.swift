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

    /// Whether the request can be sent again. It cannot if its body is a stream of the user's own, which can be read only once.
    var canBeSentAgain: Bool { httpBodyStream == nil || httpBodyStream is BodyStream }

    /// The body in memory, or `nil` if there is none or it is a stream of the user's own.
    package var bodyInMemory: Data? { httpBody ?? (try? (httpBodyStream as? BodyStream)?.data()) }

    /// The first bytes of the body, at most `count`, or `nil` if there is none or it is a stream of the user's own.
    func bodyPrefix(_ count: Int) -> Data? {
        httpBody?.prefix(count) ?? (httpBodyStream as? BodyStream).map { Data(reading: $0.unread, atMost: count) }
    }

    /// What the body is made of, or `nil` if it is a stream of somebody else's.
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

    /// The number of bytes of the body, or `nil` if it is unknown.
    package var bodyLength: Int64? {
        if let httpBody { return Int64(httpBody.count) }
        guard let httpBodyStream else { return 0 }
        if let stream = httpBodyStream as? BodyStream { return Int64(stream.length) }
        return value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : $0 }
    }

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
