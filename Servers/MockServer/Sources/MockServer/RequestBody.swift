import FlyingFox
import FlyingSocks
import Foundation

/// A client that waits for `100 Continue` before it sends its body (RFC 9110, section 10.1.1).
actor Expectation {
    @TaskLocal static var current: Expectation?
    private var isPending = true

    /// Returns `true` the first time.
    func take() -> Bool {
        defer { isPending = false }
        return isPending
    }
}

extension FlyingFox.HTTPRequest {
    /// Bodies have at most 64 MB.
    static let maximumBodySize = 64 << 20

    /// Reads the body.
    ///
    /// - Returns: `nil` if it is too large. Then what has no length was read to its end, as far as that is not absurd.
    func readBody() async throws -> Data? {
        if let count = bodySequence.count, count > Self.maximumBodySize { return nil }
        let expects = headers[HTTPHeader("Expect")]?.lowercased() == "100-continue"
        return try await Expectation.$current.withValue(expects ? Expectation() : nil) {
            var (body, count) = (Data(), 0)
            for try await chunk in bodySequence {
                count += chunk.count
                if count <= Self.maximumBodySize { body += chunk } else { body = Data() }
                if count > Refusal.maximumRest { break }
            }
            return count <= Self.maximumBodySize ? body : nil
        }
    }
}

/// An answer before the body was read. The connection ends after it, because the rest of the body must not be read as the next request.
struct Refusal: AsyncBufferedSequence {
    typealias Element = UInt8

    /// A client may read the answer only after it has sent its body, and never if the connection ends before. So this much is read.
    static let maximumRest = 1 << 30

    let text: Data
    let rest: HTTPBodySequence?

    static func response(
        _ status: Int, _ text: String, to request: FlyingFox.HTTPRequest? = nil, headers: FlyingFox.HTTPHeaders = [:]
    ) -> FlyingFox.HTTPResponse {
        let body = Refusal(text: Data("\(text)\n".utf8), rest: request?.bodySequence)
        var headers = headers
        (headers[.connection], headers[.contentType]) = ("close", "text/plain; charset=utf-8")
        return FlyingFox.HTTPResponse(
            statusCode: HTTPStatusCode(status, phrase: ""), headers: headers, body: HTTPBodySequence(from: body, count: body.text.count))
    }

    func makeAsyncIterator() -> Iterator { Iterator(refusal: self) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        let refusal: Refusal
        var hasSentText = false

        mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

        mutating func nextBuffer(suggested count: Int) async throws -> Data? {
            if !hasSentText {
                hasSentText = true
                return refusal.text
            }
            var count = 0
            if let rest = refusal.rest {
                for try await chunk in rest {
                    count += chunk.count
                    if count > Refusal.maximumRest { break }
                }
            }
            throw ConnectionEnd()
        }
    }
}

/// Ends a connection.
struct ConnectionEnd: Error {}

/// Ends the connection before an answer is sent: FlyingFox makes the frames of a web socket before it writes the head.
struct NoAnswer: WSHandler {
    func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> { throw ConnectionEnd() }
}
