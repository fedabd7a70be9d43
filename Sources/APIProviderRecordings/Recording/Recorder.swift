import APIProvider
import APIProviderMocks
import Dispatch
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends a scope's requests to the server, and keeps the responses.
///
/// Sends every request as a stream, so that nothing waits for a stream's end. Redirects are responses, for the sender to follow.
final class Recorder: Sendable {
    private struct Item {
        /// The app has left an exchange without an end.
        var exchange: RecordedExchange
        let cancellation: any Disposable
        var isEnded: Bool { exchange.order.end != .max }
    }

    private struct State {
        /// In the order of the requests.
        var items: [Item] = []
        /// The number of begun requests and ended responses.
        var events = 0
        var isClosed = false
    }

    private let transport: any Transport
    private let state = Locked(State())

    init(_ transport: any Transport) { self.transport = transport }

    /// The sent requests, with the responses so far.
    var exchanges: [RecordedExchange] { state.withLock { $0.items.map(\.exchange) } }

    /// Cancels running requests, and sends nothing more. Drops later data.
    func close() {
        let open = state.withLock { state in
            state.isClosed = true
            return state.items.filter { !$0.isEnded }
        }
        open.forEach { $0.cancellation.dispose() }
    }

    // MARK: - Asking the server

    /// The server's answer. Sends and cancels on a background queue: the caller may be URLSession's loading thread, and busy tasks may keep a
    /// new task waiting.
    func answer(to request: PreparedRequest) -> Answer {
        Answer { [self] deliver in
            let cancellation = SerialDisposable()
            let sent = RecordedExchange(request)
            let number = state.withLock { state -> Int? in
                guard !state.isClosed else { return nil }
                var exchange = sent
                (exchange.order, exchange.failure) = ((state.events, .max), RecordedExchange.left)
                state.items.append(Item(exchange: exchange, cancellation: cancellation))
                state.events += 1
                return state.items.count - 1
            }
            guard let number else {
                deliver(.failure(URLError(.cancelled)))
                return Disposables.create()
            }
            DispatchQueue.global().async { [self] in
                let sending = SerialDisposable()
                cancellation.disposable = sending
                var streamed = request
                streamed.bodyDestination = .stream()
                sending.disposable = transport.send(streamed).subscribe { event in
                    switch event {
                    case .success(let response):
                        let (answer, reading) = self.read(response, number)
                        cancellation.disposable = reading
                        deliver(answer)
                    case .failure(let error):
                        self.end(number, error.recordedReason)
                        deliver(.failure(error.withoutRequest))
                    }
                }
            }
            return Disposables.create { [self] in
                end(number, RecordedExchange.left)
                DispatchQueue.global().async { cancellation.dispose() }
            }
        }
    }

    /// The answer, with a body that follows. Dispose the disposable to stop reading.
    private func read(_ response: APIResponse, _ number: Int) -> (answer: Answer, reading: any Disposable) {
        let (head, feed) = (response.headWithoutEncoding, StreamFeed())
        withItem(number) { item in
            item.exchange.response = .init(statusCode: head.statusCode, headers: HTTPHeaders(head.headerFields), body: Data())
        }
        let task = Task { [self] in
            do {
                for try await chunk in ByteStream(response) {
                    withItem(number) { $0.exchange.response?.body += chunk }
                    feed.send(chunk)
                }
                end(number)
                feed.finish()
            } catch is CancellationError {
                end(number, RecordedExchange.left)
                feed.fail(URLError(.cancelled))
            } catch {
                end(number, error.recordedReason)
                feed.fail(error.withoutRequest)
            }
        }
        feed.onCancel { DispatchQueue.global().async { task.cancel() } }
        return (Answer(head: head, feed: feed), Disposables.create { task.cancel() })
    }

    // MARK: - The state

    private func withItem(_ number: Int, _ body: (inout Item) -> Void) {
        state.withLock { if !$0.isClosed, !$0.items[number].isEnded { body(&$0.items[number]) } }
    }

    /// - Parameter failure: The reason for an early end, after the part so far.
    private func end(_ number: Int, _ failure: String? = nil) {
        state.withLock { state in
            guard !state.isClosed, !state.items[number].isEnded else { return }
            (state.items[number].exchange.order.end, state.items[number].exchange.failure) = (state.events, failure)
            state.events += 1
        }
    }
}

// MARK: - Responses

extension APIResponse {
    /// The head for the decompressed body.
    fileprivate var headWithoutEncoding: HTTPURLResponse {
        var fields = headers
        if fields["Content-Encoding"] != nil { fields["Content-Length"] = nil }
        (fields["Content-Encoding"], fields["Transfer-Encoding"]) = (nil, nil)
        return (try? .mock(statusCode, headers: fields.dictionary, for: request.url)) ?? httpResponse
    }
}

extension Error {
    /// The error inside a transport's error.
    fileprivate var withoutRequest: any Error { (self as? APIError)?.underlying ?? self }
}
