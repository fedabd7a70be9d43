import APIProvider
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The answer to one request, for `URLSession` or ``MockTransport``.
struct Reply: Sendable {
    enum End: Sendable {
        case finished
        case failed(any Error)
        case never
    }

    /// In seconds.
    var delay: TimeInterval = 0
    var head: HTTPURLResponse?
    var body = Data()
    var chunkCount = 1
    var end = End.finished

    /// Creates a response to `request`, without a body where HTTP allows none.
    init(_ head: HTTPURLResponse, _ body: Data, to request: RecordedRequest) {
        self.head = head
        if request.method != .head, head.statusCode != 204, head.statusCode != 304 { self.body = body }
    }

    init(_ end: End) { self.end = end }

    /// Creates the reply that `make` returns, or a failure with the error that it throws.
    init(_ make: () throws -> Reply) {
        do { self = try make() } catch { self.init(.failed(error)) }
    }

    /// The pieces of the body. None if it is empty.
    func chunks(isWhole: Bool = false) -> [Data] {
        let count = isWhole ? 1 : max(1, min(chunkCount, body.count))
        guard count > 1 else { return body.isEmpty ? [] : [body] }
        let bounds = (0...count).map { body.startIndex + body.count * $0 / count }
        return zip(bounds, bounds.dropFirst()).map { Data(body[$0..<$1]) }
    }
}

extension Reply {
    /// The scheduler for delays.
    static let scheduler = ConcurrentDispatchQueueScheduler(qos: .userInitiated)

    /// The reply for a request with this timeout in seconds.
    func within(_ timeout: TimeInterval) -> Reply {
        var isNever = false
        if case .never = end { isNever = true }
        guard isNever || delay > timeout, timeout > 0 else { return self }
        var reply = Reply(.failed(URLError(.timedOut)))
        reply.delay = timeout
        return reply
    }

    /// The delay for a scheduler. A time that makes no sense becomes a year.
    var interval: DispatchTimeInterval {
        let year: TimeInterval = 365 * 86400
        return .nanoseconds(Int((delay < year ? max(delay, 0) : year) * 1e9))
    }
}

extension StubResponse.Answer {
    /// Whether ``reply(to:)`` calls the user's code.
    var isHandler: Bool {
        if case .handler = kind { true } else { false }
    }

    func reply(to request: RecordedRequest) -> Reply {
        var reply = Reply {
            switch kind {
            case .response(let status, let headers, let body):
                Reply(try .mock(status, headers: headers, for: request.url), body, to: request)
            case .failure(let error): Reply(.failed(error))
            case .handler(let respond): try respond(request).firstReply(to: request)
            case .never: Reply(.never)
            }
        }
        reply.delay += delay
        if let chunkCount { reply.chunkCount = chunkCount }
        if let error, case .finished = reply.end { reply.end = .failed(error) }
        return reply
    }
}

extension StubResponse {
    fileprivate func firstReply(to request: RecordedRequest) throws -> Reply {
        guard let answer = answer(after: 0) else { throw MockFailure("The handler returned an empty sequence.") }
        return answer.reply(to: request)
    }
}
