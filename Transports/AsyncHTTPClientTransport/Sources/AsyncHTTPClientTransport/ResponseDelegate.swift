@_spi(Transports) import APIProviderTransport
import AsyncHTTPClient
import Foundation
import MiniRx
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tells an exchange what comes of its request. The client calls it on the event loop of its task.
final class ResponseDelegate: HTTPClientResponseDelegate, @unchecked Sendable {  // All state is the event loop's but `exchange`.
    private let exchange: Exchange
    private let bodyLength: Int64?
    private let url: URL
    /// Held until the exchange is over.
    private let client: Client
    private let host: String
    private var bytesSent: Int64 = 0
    private var isConnecting = true
    private var isEncodingKnown = true
    private var hasAnswer = false
    private var isOver = false

    /// Sends the request once more after an error without an answer, or returns false.
    private let sendAgain: (any Error) -> Bool

    init(_ exchange: Exchange, client: Client, host: String, sendAgain: @escaping (any Error) -> Bool) {
        (self.exchange, self.client, self.host, self.sendAgain) = (exchange, client, host, sendAgain)
        let request = exchange.request
        (bodyLength, url) = (request.body.map { Int64($0.count) }, request.url)
    }

    /// The request has a connection, or a stream of one.
    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) {
        isConnecting = false
        exchange.didSend(0, of: bodyLength)
    }

    func didSendRequestPart(task: HTTPClient.Task<Void>, _ part: IOData) {
        bytesSent += Int64(part.readableBytes)
        exchange.didSend(bytesSent, of: bodyLength)
    }

    /// Called for each head, also for that of a redirect which the client is about to follow. That is the response then.
    func didVisitURL(task: HTTPClient.Task<Void>, _ request: HTTPClient.Request, _ head: HTTPResponseHead) {
        guard client.isLent, [301, 302, 303, 307, 308].contains(head.status.code), head.headers.contains(name: "Location")
        else { return }
        if receive(head) { end(nil) }
        task.cancel()
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        guard !isOver, receive(head) else { return task.eventLoop.makeFailedFuture(Unwanted()) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        if !isEncodingKnown { end(URLError(.cannotDecodeContentData)) }
        guard !isOver, exchange.receive(Data(buffer: buffer, byteTransferStrategy: .copy)) else {
            return task.eventLoop.makeFailedFuture(Unwanted())
        }
        guard exchange.streamsResponse else { return task.eventLoop.makeSucceededVoidFuture() }
        // The client reads on from the server when this is fulfilled.
        let isReady = task.eventLoop.makePromise(of: Void.self)
        exchange.onWritable { isReady.succeed() }
        return isReady.futureResult
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { end(error) }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws { end(nil) }

    /// Ends the exchange, once.
    func end(_ error: (any Error)?) {
        guard !isOver else { return }
        isOver = true
        if let error, !hasAnswer, sendAgain(error) { return }
        exchange.complete(with: error?.asURLError(client.maxResponseSize, isConnecting: isConnecting))
    }

    /// Names that leave the bytes as they are. Servers also send charsets, and S3 names the framing of an upload.
    private static let noCodings: Set<String> = ["identity", "none", "utf-8", "utf8", "binary", "aws-chunked"]

    private func receive(_ head: HTTPResponseHead) -> Bool {
        hasAnswer = true
        client.noteAnswer(from: host)
        let response = HTTPURLResponse(
            url: url, statusCode: Int(head.status.code), httpVersion: "\(head.version)", headerFields: head.headers.joined)
        guard let response else {
            end(URLError(.cannotParseResponse))
            return false
        }
        // The client decodes these two if the field begins with them, and passes everything else on as it is.
        var encodings = head.headers[canonicalForm: "Content-Encoding"].map { $0.lowercased() }[...]
        if ["gzip", "deflate"].contains(encodings.first) { encodings.removeFirst() }
        isEncodingKnown = encodings.allSatisfy { Self.noCodings.contains($0) }
        return exchange.receive(response)
    }
}

/// The exchange is over, and the rest of the response is not wanted.
private struct Unwanted: Error {}
