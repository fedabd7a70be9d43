import APIProvider
import APIProviderMocks
import Dispatch
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The requests that a recording has sent, and the names whose values are secret in all requests of its test.
struct RecordedTraffic: Sendable {
    let exchanges: [RecordedExchange]
    let names: SecretNames
}

/// Sends the requests of a scope to the server, and keeps what comes.
///
/// Every request is sent as a stream, so nothing waits for the end of a stream of events. Redirects are responses: whoever has sent the
/// request follows them.
final class Recorder: Sendable {
    private struct Item {
        var exchange: RecordedExchange
        /// Whether it is recorded even without its end: its reader has what has come so far.
        var isStream = false
        var isEnded = false
        let start = DispatchTime.now()
        /// The milliseconds from the start to the head of the response.
        var headTime = 0.0
        let cancellation: any Disposable

        mutating func add(_ chunk: Data) {
            exchange.response?.body += chunk
            guard exchange.response?.times != nil else { return }
            let time = max(0, milliseconds - headTime)
            exchange.response?.times? += repeatElement(time, count: chunk.count { $0 == 0x0A })
        }

        /// Ends before the response is whole: a stream keeps what its reader has got, and any other response is discarded.
        mutating func endEarly() {
            if isStream { exchange.response?.cutToWholeLines() } else { exchange.abandon() }
        }

        var milliseconds: Double { (Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e6).rounded() }
    }

    private struct State {
        /// In the order in which the requests began.
        var items: [Item] = []
        /// How many requests and responses have begun and ended.
        var events = 0
        var isClosed = false
    }

    private let transport: any Transport
    private let state = Locked(State())

    init(_ transport: any Transport) { self.transport = transport }

    /// The requests that were sent, with what has come so far. A request without a response is one that the app has given up.
    var exchanges: [RecordedExchange] {
        state.withLock { state in
            state.items.map { item in
                guard !item.isEnded else { return item.exchange }
                var item = item
                item.exchange.order.end = state.events + 1
                item.endEarly()
                return item.exchange
            }
        }
    }

    /// Cancels what is under way, and sends nothing more. What comes later is not kept.
    func close() {
        let open = state.withLock { state in
            state.isClosed = true
            return state.items.filter { !$0.isEnded }
        }
        open.forEach { $0.cancellation.dispose() }
    }

    // MARK: - Asking the server

    /// The answer of the server. Sends and cancels on a background queue, because the caller may be URLSession's loading thread.
    func answer(to request: PreparedRequest) -> Answer {
        Answer { [self] deliver in
            let cancellation = SerialDisposable()
            let number = state.withLock { state -> Int? in
                guard !state.isClosed else { return nil }
                var exchange = RecordedExchange(request)
                exchange.order.begin = state.events
                state.events += 1
                state.items.append(Item(exchange: exchange, cancellation: cancellation))
                return state.items.count - 1
            }
            guard let number else {
                deliver(.failure(URLError(.cancelled)))
                return Disposables.create()
            }
            DispatchQueue.global().async { [self] in
                let sending = SerialDisposable()
                cancellation.disposable = sending
                sending.disposable = transport.sendStreamed(request).subscribe { event in
                    switch event {
                    case .success(let response): cancellation.disposable = self.read(response, of: request, number, deliver)
                    case .failure(let error): deliver(self.fail(number, error))
                    }
                }
            }
            return Disposables.create { [self] in
                end(number) { $0.endEarly() }
                DispatchQueue.global().async { cancellation.dispose() }
            }
        }
    }

    /// Delivers the head of a stream at once, and any other response as a whole. Returns a disposable that stops reading.
    private func read(
        _ response: APIResponse, of request: PreparedRequest, _ number: Int, _ deliver: @escaping @Sendable (Answer) -> Void
    ) -> any Disposable {
        let head = response.headWithoutEncoding
        let hasLines = response.value(forHTTPHeaderField: "Content-Type")?.mediaType.isStreamOfLines == true
        let feed = request.streamsResponse || hasLines ? StreamFeed() : nil
        withItem(number) { item in
            item.isStream = feed != nil
            item.headTime = item.milliseconds
            item.exchange.response = .init(
                status: head.statusCode, headers: .init(head.headerFields), body: [], times: hasLines ? [] : nil)
        }
        let task = Task { [self] in
            var body = Data()
            do {
                for try await chunk in ByteStream(response) {
                    if feed == nil { body += chunk }
                    withItem(number) { $0.add(chunk) }
                    feed?.send(chunk)
                }
                end(number)
                feed?.finish()
                if feed == nil { deliver(Answer(head: head, steps: body.isEmpty ? [] : [.data(body)])) }
            } catch is CancellationError {
                end(number) { $0.endEarly() }
                feed?.fail(URLError(.cancelled))
                if feed == nil { deliver(.failure(URLError(.cancelled))) }
            } catch {
                let failure = fail(number, error)
                if let feed { feed.fail(error.withoutRequest) } else { deliver(failure) }
            }
        }
        if let feed {
            feed.onCancel { DispatchQueue.global().async { task.cancel() } }
            deliver(Answer(head: head, feed: feed))
        }
        return Disposables.create { task.cancel() }
    }

    // MARK: - The state

    private func withItem(_ number: Int, _ body: (inout Item) -> Void) {
        state.withLock { if !$0.isClosed, !$0.items[number].isEnded { body(&$0.items[number]) } }
    }

    private func end(_ number: Int, _ body: (inout Item) -> Void = { _ in }) {
        state.withLock { state in
            guard !state.isClosed, !state.items[number].isEnded else { return }
            body(&state.items[number])
            state.items[number].isEnded = true
            state.items[number].exchange.order.end = state.events
            state.items[number].exchange.duration = state.items[number].milliseconds / 1000
            state.events += 1
        }
    }

    private func fail(_ number: Int, _ error: any Error) -> Answer {
        end(number) { item in
            item.exchange.failure = error.recordedReason
            if !item.isStream { item.exchange.response = nil }
        }
        return .failure(error.withoutRequest)
    }
}

// MARK: - Exchanges that broke off

extension RecordedExchange {
    fileprivate mutating func abandon() { (response, failure) = (nil, Self.abandoned) }
}

extension RecordedExchange.Response {
    /// Drops what came of a line or an event that had not ended.
    fileprivate mutating func cutToWholeLines() {
        guard times != nil else { return }
        let isEventStream = value(of: "Content-Type")?.mediaType == "text/event-stream"
        var (end, start) = (0, 0)
        for index in body.indices where body[index] == 0x0A || isEventStream && body[index] == 0x0D {
            // The line feed of a CRLF ends no other line.
            let endsCRLF = body[index] == 0x0A && index > 0 && body[index - 1] == 0x0D && isEventStream
            let isEnd = endsCRLF ? end == index : !isEventStream || index == start
            if isEnd { end = index + 1 }
            start = index + 1
        }
        body.removeLast(body.count - end)
        times = times.map { Array($0.prefix(body.count { $0 == 0x0A })) }
    }
}

// MARK: - Responses

extension Transport {
    /// Sends the same request as one whose response is read while it comes.
    func sendStreamed(_ request: PreparedRequest) -> Single<APIResponse> {
        var streamed = request
        streamed.destination = .stream()
        return send(streamed)
    }
}

extension APIResponse {
    /// The head for the body as it is here, decompressed.
    fileprivate var headWithoutEncoding: HTTPURLResponse {
        var fields = headers
        if fields["Content-Encoding"] != nil { fields["Content-Length"] = nil }
        (fields["Content-Encoding"], fields["Transfer-Encoding"]) = (nil, nil)
        return (try? .mock(statusCode, headers: fields.dictionary, for: request.url)) ?? httpResponse
    }
}

extension Error {
    /// The error that a transport has wrapped.
    fileprivate var withoutRequest: any Error { (self as? APIError)?.underlying ?? self }
}
