import APIProvider
import Foundation
import MiniRx
import MockNetwork

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers the requests of a scope from a file.
final class ReplaySource: Sendable {
    private let replay: Locked<Replay>
    private let placeholders: Placeholders
    private let isForAnyHost: Bool
    /// How to record again, for the report.
    private let hint: String?

    init(_ file: RecordedFile, _ comparison: Comparison, hint: String? = nil) {
        (replay, placeholders) = (Locked(Replay(file, comparison)), file.placeholders)
        (isForAnyHost, self.hint) = (comparison.isForAnyHost, hint)
    }

    /// The entries that have answered no request.
    var unused: [Replay.Entry] {
        let replay = replay.withLock { $0 }
        return zip(replay.entries, replay.uses).filter { $0.1 == 0 }.map(\.0)
    }

    func choose(_ request: PreparedRequest) -> AnswerSource.Choice {
        let exchange = RecordedExchange(request)
        let (result, texts) = replay.withLock { replay in
            let result = replay.entry(for: exchange)
            return (result.map { replay.entries[$0] }, replay.bindings.texts)
        }
        switch result {
        case .failure(let failure):
            let hint = failure.isCuredByRecording ? hint.map { "\n\n\($0)" } ?? "" : ""
            return .none(reason: failure.description + hint)
        case .success(let entry): return .answer(answer(to: request, from: entry, texts))
        }
    }

    private func answer(to request: PreparedRequest, from entry: Replay.Entry, _ texts: [String: String]) -> Playback {
        let exchange = entry.exchange
        if let problem = entry.problem { return .failure(MockFailure("\(entry.path) has no usable response: \(problem).")) }
        let hasLeft = exchange.failure == RecordedExchange.left
        guard let response = exchange.response else {
            return hasLeft ? .never : .failure(URLError(recordedReason: exchange.failure ?? ""))
        }
        let elapsed = exchange.started == .distantPast ? 0 : Date().timeIntervalSince(exchange.started).rounded(.down)
        let writer = ResponseWriter(placeholders: placeholders, texts: texts, elapsed: elapsed)
        let body = writer.body(response.body, response.type)
        var headers = writer.headers(response.headers)
        if headers["Content-Length"] != nil, exchange.method != "HEAD" { headers["Content-Length"] = "\(body.count)" }
        if isForAnyHost, let origin = URLParts(exchange.url).origin {
            for name in ["Link", "Location"] { headers[name] = headers[name]?.leadingToAnyHost(insteadOf: origin) }
        }
        guard let head = try? HTTPURLResponse.mock(response.statusCode, headers: headers.dictionary, for: request.url) else {
            return .failure(MockFailure("\(entry.path) has no usable response: \(response.statusCode) is not an HTTP status."))
        }
        guard hasLeft else {
            let failure = exchange.failure.map { [StubResponse.Step.failure(URLError(recordedReason: $0))] } ?? []
            return Playback(head: head, steps: (body.isEmpty ? [] : [.data(body)]) + failure)
        }
        // What the app has left stays open.
        let feed = StreamFeed()
        feed.send(body)
        return Playback(head: head, feed: feed)
    }
}

extension String {
    /// Links and redirects to the recorded origin lead to the host that is asked.
    fileprivate func leadingToAnyHost(insteadOf origin: String) -> String {
        hasPrefix("\(origin)/") ? String(dropFirst(origin.count)) : replacingOccurrences(of: "<\(origin)/", with: "</")
    }
}
