import APIProvider
import AsyncHTTPClient
import Foundation
import MiniRx
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Hands what the client tells to the exchange that it is about. It is called on the event loop of its task.
final class ResponseDelegate: HTTPClientResponseDelegate, @unchecked Sendable {  // All state is the event loop's but `exchange`.
    private let exchange: Exchange
    private let bodyLength: Int64?
    private let url: URL?
    /// Held until the exchange is over.
    private let client: Client
    private let host: String
    private var bytesSent: Int64 = 0
    private var isEncodingKnown = true
    private var hasAnswer = false
    private var isOver = false

    /// Sends the request once more. It is called in the place of an end, if the connection was closed without an answer.
    var sendAgain: (() -> Void)?

    init(_ exchange: Exchange, client: Client, host: String) {
        (self.exchange, self.client, self.host) = (exchange, client, host)
        (bodyLength, url) = (exchange.bodyLength, exchange.request.url)
    }

    func didSendRequestPart(task: HTTPClient.Task<Void>, _ part: IOData) {
        bytesSent += Int64(part.readableBytes)
        exchange.sent(bytesSent, of: bodyLength)
    }

    /// Called for each head, also of a redirect that the client is about to follow: then that is the response.
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
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { end(error) }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws { end(nil) }

    /// Ends the exchange, once.
    func end(_ error: (any Error)?) {
        guard !isOver else { return }
        isOver = true
        let error = error.map { $0.asURLError(client.maximumResponseSize) }
        if let sendAgain, !hasAnswer, (error as? URLError)?.code == .networkConnectionLost { return sendAgain() }
        exchange.complete(with: error)
    }

    private func receive(_ head: HTTPResponseHead) -> Bool {
        hasAnswer = true
        client.noteAnswer(from: host)
        guard let url,
            let response = HTTPURLResponse(
                url: url, statusCode: Int(head.status.code), httpVersion: "\(head.version)", headerFields: head.headers.joined)
        else {
            end(URLError(.cannotParseResponse))
            return false
        }
        // The client decodes one of these, and passes on all else as it is.
        let encodings = head.headers[canonicalForm: "Content-Encoding"].map { $0.lowercased() }.filter { $0 != "identity" }
        isEncodingKnown = encodings.isEmpty || encodings == ["gzip"] || encodings == ["deflate"]
        return exchange.receive(response, sharesConnection: head.version.major >= 2)
    }
}

/// The rest of the response is not wanted: the exchange is over.
private struct Unwanted: Error {}
