import APIProvider
import APIProviderMocks
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Locked<Replay> {
    /// Answers a scope's request.
    ///
    /// - Parameter hint: How to record again, for the report.
    func choose(_ request: PreparedRequest, hint: String = "") -> AnswerSource.Choice {
        let exchange = RecordedExchange(request)
        let (result, replay) = withLock { replay in (replay.entry(for: exchange), replay) }
        switch result {
        case .failure(let failure): return .none(reason: failure.description + (failure.isCuredByRecording ? hint : ""))
        case .success(let number):
            let entry = replay.entries[number]
            return .answer(replay.answer(to: request, from: entry), name: entry.path)
        }
    }
}

extension Replay {
    fileprivate func answer(to request: PreparedRequest, from entry: Entry) -> Answer {
        let exchange = entry.exchange
        if let problem = entry.problem { return .failure(MockFailure("\(entry.path) has no usable response: \(problem).")) }
        let hasLeft = exchange.failure == RecordedExchange.left
        guard let response = exchange.response else {
            return hasLeft ? .never : .failure(URLError(recordedReason: exchange.failure ?? ""))
        }
        let elapsed = exchange.started == .distantPast ? 0 : Date().timeIntervalSince(exchange.started).rounded(.down)
        let writer = ResponseWriter(placeholders: placeholders, texts: bindings.texts, elapsed: elapsed)
        let body = writer.body(response.body, response.type)
        var headers = writer.headers(response.headers)
        if let field = headers["Content-Length"], exchange.method != "HEAD" {
            // A part that was cut off must not be whole to a client of the port. An app may also leave after the last byte.
            let length = Int(field) ?? 0
            let isCutOff = exchange.failure != nil && response.body.count < length
            headers["Content-Length"] = "\(isCutOff ? max(length, body.count + 1) : body.count)"
        }
        if options.isForAnyHost, let origin = URLParts(exchange.url).origin {
            for name in ["Link", "Location"] { headers[name] = headers[name]?.relative(to: origin) }
        }
        guard let head = try? HTTPURLResponse.mock(response.statusCode, headers: headers.dictionary, for: request.url) else {
            return .failure(MockFailure("\(entry.path) has no usable response: \(response.statusCode) is not an HTTP status."))
        }
        guard hasLeft else {
            let failure = exchange.failure.map { [StubResponse.Step.failure(URLError(recordedReason: $0))] } ?? []
            return Answer(head: head, steps: (body.isEmpty ? [] : [.data(body)]) + failure)
        }
        // A response that the app left stays open.
        let feed = StreamFeed()
        feed.send(body)
        return Answer(head: head, feed: feed)
    }
}

extension String {
    /// A link or redirect with relative references for URLs of `origin`.
    fileprivate func relative(to origin: String) -> String {
        utf8.starts(with: "\(origin)/".utf8)
            ? Array(utf8.dropFirst(origin.utf8.count)).text : replacingOccurrences(of: "<\(origin)/", with: "</", options: .literal)
    }
}
