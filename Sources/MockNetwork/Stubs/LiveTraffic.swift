import APIProvider
import Dispatch
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends the requests of a scope to the server, and keeps what comes.
///
/// Every request is sent as a stream, so nothing waits for the end of a stream of events. Redirects are responses: whoever has sent the
/// request follows them.
final class LiveTraffic: Sendable {
    private struct Item {
        var traffic: Traffic
        /// Whether it is recorded even without its end: its reader has what has come so far.
        var isStream = false
        var isEnded = false
        /// Whether whoever has sent the request no longer waits.
        var isDisposed = false
        var latest = DispatchTime.now()
        /// Cancels the request.
        let cancellation: any Disposable

        /// The seconds since the last call.
        mutating func lap() -> TimeInterval {
            let now = DispatchTime.now()
            defer { latest = now }
            return TimeInterval(now.uptimeNanoseconds - latest.uptimeNanoseconds) / 1e9
        }
    }

    private struct State {
        /// In the order in which the requests began.
        var items: [Item] = []
        var isClosed = false
    }

    private let transport: any Transport
    private let state = Locked(State())

    init(_ transport: any Transport) { self.transport = transport }

    /// The requests that have ended, and the streams that were read so far.
    var traffic: [Traffic] {
        state.withLock { $0.items.filter { $0.isEnded || $0.isStream }.map(\.traffic) }
    }

    /// Cancels what is under way, and sends nothing more. What comes later is not kept.
    ///
    /// - Returns: The requests that had no response yet.
    @discardableResult
    func close() -> [PreparedRequest] {
        let items = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed ? [] : state.items.filter { !$0.isEnded && !$0.isDisposed }
        }
        items.forEach { $0.cancellation.dispose() }
        return items.filter { !$0.isStream }.map(\.traffic.request)
    }

    /// The answer of the server. Nothing is sent or cancelled on the caller's thread, which may be the one that sessions share.
    func answer(to request: ReceivedRequest) -> Answer {
        Answer { [self] deliver in
            let request = request.prepared
            let cancellation = SerialDisposable()
            let number = state.withLock { state -> Int? in
                guard !state.isClosed else { return nil }
                let traffic = Traffic(request: request, answer: Answer(), started: Date())
                state.items.append(Item(traffic: traffic, cancellation: cancellation))
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
                change(number) { $0.isDisposed = true }
                DispatchQueue.global().async { cancellation.dispose() }
            }
        }
    }

    /// Delivers the head of a stream at once, and any other response as a whole. Returns a disposable that stops reading.
    private func read(
        _ response: APIResponse, of request: PreparedRequest, _ number: Int, _ deliver: @escaping @Sendable (Answer) -> Void
    ) -> any Disposable {
        let head = response.headWithoutEncoding
        let isStream = request.isStreamed || response.isStreamOfLines
        let feed = isStream ? StreamFeed() : nil
        change(number) { item in
            (item.traffic.answer, item.isStream) = (Answer(delay: item.lap(), head: head), isStream)
        }
        let task = Task { [self] in
            var body = Data()
            do {
                for try await chunk in ByteStream(response) {
                    if feed == nil { body += chunk }
                    change(number) { $0.traffic.answer.steps += [.wait(DispatchTimeInterval(seconds: $0.lap())), .data(chunk)] }
                    feed?.send(chunk)
                }
                change(number) { $0.isEnded = true }
                feed?.finish()
                if feed == nil { deliver(.response(head, StubResponse.steps(of: body), to: ReceivedRequest(request))) }
            } catch is CancellationError {
                if feed != nil { change(number) { $0.isEnded = true } }
                feed?.fail(URLError(.cancelled))
                if feed == nil { deliver(.failure(URLError(.cancelled))) }
            } catch {
                let failure = fail(number, error)
                if let feed { feed.fail(error.withoutRequest) } else { deliver(failure) }
            }
        }
        if let feed {
            feed.whenLeft { DispatchQueue.global().async { task.cancel() } }
            deliver(Answer(head: head, feed: feed))
        }
        return Disposables.create { task.cancel() }
    }

    private func change(_ number: Int, _ body: (inout Item) -> Void) {
        state.withLock { if !$0.isClosed { body(&$0.items[number]) } }
    }

    private func fail(_ number: Int, _ error: any Error) -> Answer {
        change(number) { item in
            item.traffic.answer.steps.append(.failure(error.withoutRequest))
            if item.traffic.answer.head == nil { item.traffic.answer.delay = item.lap() }
            item.isEnded = true
        }
        return .failure(error.withoutRequest)
    }
}

extension Transport {
    /// Sends the same request as one whose response is read while it comes.
    func sendStreamed(_ request: PreparedRequest) -> Single<APIResponse> {
        var streamed = request
        streamed.destination = .stream()
        return send(streamed)
    }
}

extension APIResponse {
    /// Whether the body comes line by line.
    var isStreamOfLines: Bool { value(forHTTPHeaderField: "Content-Type")?.mediaType.isStreamOfLines == true }

    /// The head for the body as it is here, decompressed.
    fileprivate var headWithoutEncoding: HTTPURLResponse {
        var headers = HTTPHeaders(httpResponse.headerFields)
        if headers["Content-Encoding"] != nil { headers["Content-Length"] = nil }
        (headers["Content-Encoding"], headers["Transfer-Encoding"]) = (nil, nil)
        return (try? .mock(statusCode, headers: headers.dictionary, for: request.url)) ?? httpResponse
    }
}

extension Error {
    /// The error that a transport has wrapped.
    fileprivate var withoutRequest: any Error { (self as? APIError)?.underlying ?? self }
}
