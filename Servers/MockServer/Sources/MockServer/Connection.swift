import APIProvider
import Foundation
import NIOCore
import NIOHTTP1

/// A connection of a client, whose requests are answered one after the other.
struct Connection {
    typealias Messages = NIOAsyncChannel<HTTPServerRequestPart, Never>

    /// Bodies have at most 64 MB.
    private static let maximumBodySize = 64 << 20
    /// A client may read an answer only after it has sent its body, and never if the connection is reset before. So it has this time.
    private static let lingering = TimeAmount.seconds(10)

    private let channel: any Channel
    private var parts: NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    private var head: HTTPRequestHead
    private var hasReadBody = true

    /// Returns when the connection has ended.
    static func serve(_ messages: Messages, _ handler: MockHandler) async {
        await withTaskCancellationHandler {
            try? await messages.executeThenClose { inbound in
                var connection = Connection(messages.channel, inbound)
                do { while try await connection.answer(with: handler) {} } catch let error as HTTPParserError {
                    try await connection.refuse(error)
                }
            }
        } onCancel: {
            messages.channel.close(promise: nil)
        }
    }

    private init(_ channel: any Channel, _ inbound: NIOAsyncChannelInboundStream<HTTPServerRequestPart>) {
        (self.channel, parts) = (channel, inbound.makeAsyncIterator())
        head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
    }

    /// - Returns: Whether another request may follow.
    private mutating func answer(with handler: MockHandler) async throws -> Bool {
        guard case .head(let head) = try await parts.next() else { return false }
        (self.head, hasReadBody) = (head, false)
        let headers = head.headers.reduce(into: Fields()) { fields, field in
            let separator = field.name.lowercased() == "cookie" ? "; " : ", "
            // The parser removes only what is before a value.
            let value = field.value.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
            fields[field.name] = fields[field.name].map { $0 + separator + value } ?? value
        }
        let request = ServerRequest(
            method: head.method.rawValue, target: head.uri, headers: headers, client: channel.remoteAddress?.ipAddress)
        // Without a response, the client sees that the connection ends.
        guard let response = await handler.response(to: request, readBody: { try await readBody() }) else { return false }
        return try await send(response)
    }

    private mutating func refuse(_ error: HTTPParserError) async throws {
        // The head is that of the request before, if any, and nobody knows where the next one would begin.
        (head.method, hasReadBody) = (.GET, false)
        let hint =
            switch error {
            case .headerOverflow: "A field and a target have at most 80 KB each, and a head has at most 256 fields and 2 MB."
            case .invalidURL: "A target has only ASCII characters: escape others."
            case .invalidMethod: "Methods are in capital letters, and there is no TLS."
            default: ""
            }
        _ = try await send(.text(error == .headerOverflow ? 431 : 400, "The request cannot be read (\(error)). \(hint)"))
    }

    // MARK: - The body of a request

    /// - Returns: `nil` if it is too large.
    private mutating func readBody() async throws -> Data? {
        if let size = head.headers.first(name: "Content-Length").flatMap({ Int($0) }), size > Self.maximumBodySize { return nil }
        let hasBody = head.headers.contains(name: "Content-Length") || head.headers.contains(name: "Transfer-Encoding")
        if hasBody, head.version == .http1_1, head.headers.first(name: "Expect")?.lowercased() == "100-continue" {
            try await write(.head(HTTPResponseHead(version: .http1_1, status: .continue)))
        }
        var body = Data()
        while body.count <= Self.maximumBodySize {
            guard case .body(let part) = try await parts.next() else {
                hasReadBody = true
                return body
            }
            body.append(contentsOf: part.readableBytesView)
        }
        return nil
    }

    // MARK: - The answer

    /// - Returns: Whether another request may follow.
    private mutating func send(_ response: ServerResponse) async throws -> Bool {
        // The rest of a body must not be read as the next request. After an upgrade or a CONNECT, NIO reads no request.
        let opensTunnel = head.headers.contains(name: "Upgrade") || head.method == .CONNECT
        var isLast = !hasReadBody || !head.isKeepAlive || opensTunnel
        var headers = HTTPHeaders(response.headers.map { ($0.name, $0.value) })
        let hasBody = head.method != .HEAD && ![204, 304].contains(response.status)
        switch response.body.length {
        case _ where response.status == 204: break
        case let length?: headers.add(name: "Content-Length", value: "\(length)")
        case nil where !hasBody: break
        case nil where head.version == .http1_0: isLast = true
        case nil: headers.add(name: "Transfer-Encoding", value: "chunked")
        }
        if isLast || head.version == .http1_0 { headers.add(name: "Connection", value: isLast ? "close" : "keep-alive") }
        let status = HTTPResponseStatus(statusCode: response.status)
        let first = HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))
        switch response.body {
        case _ where !hasBody: try await write(first, .end(nil))
        case .data(let data): try await write(first, .body(.byteBuffer(ByteBuffer(bytes: data))), .end(nil))
        case .stream(let bytes, let length):
            try await write(first)
            // A body of another length must not go on in the next answer.
            var rest = length ?? .max
            for try await chunk in bytes {
                let part = chunk.prefix(rest)
                rest -= part.count
                if !part.isEmpty { try await write(.body(.byteBuffer(ByteBuffer(bytes: part)))) }
                if part.count < chunk.count { return false }
            }
            if length != nil, rest > 0 { return false }
            try await write(.end(nil))
        }
        if isLast { await linger() }
        return !isLast
    }

    /// Reads what the client still sends, until it has the answer and leaves. Otherwise the system would drop the answer.
    private mutating func linger() async {
        let channel = channel
        let end = channel.eventLoop.scheduleTask(in: Self.lingering) { channel.close(promise: nil) }
        // From now on, the end of what the client sends ends the connection.
        try? await channel.setOption(.allowRemoteHalfClosure, value: false).get()
        try? await channel.close(mode: .output).get()
        do { while try await parts.next() != nil {} } catch {}
        try? await channel.closeFuture.get()
        end.cancel()
    }

    /// Returns when the system has taken all.
    private func write(_ parts: HTTPServerResponsePart...) async throws {
        try await channel.eventLoop.flatSubmit { [channel] in
            for part in parts.dropLast() { channel.write(part, promise: nil) }
            return channel.writeAndFlush(parts[parts.count - 1])
        }.get()
    }
}
