import APIProvider
import APIProviderMocks
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Answers the requests of a scope from a file.
final class ReplaySource: Sendable {
    private struct State {
        var replay: Replay
        /// The requests that were answered, and their entries.
        var answered: [(request: PreparedRequest, entry: Int)] = []
    }

    let file: RecordedFile
    private let isForAnyHost: Bool
    /// How to record again, for the report.
    private let hint: String?
    private let state: Locked<State>

    init(
        _ file: RecordedFile, hiding hidden: SecretNames = SecretNames(), ignoring ignored: SecretNames, forAnyHost isForAnyHost: Bool,
        hint: String? = nil
    ) {
        (self.file, self.hint, self.isForAnyHost) = (file, hint, isForAnyHost)
        state = Locked(State(replay: Replay(file, hiding: hidden, ignoring: ignored, forAnyHost: isForAnyHost)))
    }

    var answered: [(request: PreparedRequest, entry: Int)] { state.withLock(\.answered) }

    /// The entries that answered no request.
    var unused: [RecordedFile.Entry] {
        state.withLock(\.replay.uses).enumerated().filter { $0.element == 0 }.map { file.entries[$0.offset] }
    }

    // MARK: - Answering

    func choose(_ request: PreparedRequest) -> AnswerSource.Choice {
        let exchange = RecordedExchange(request)
        let (result, placeholders, bindings) = state.withLock { state in
            let result = state.replay.entry(for: exchange)
            if case .success(let index) = result { state.answered.append((request, index)) }
            return (result, state.replay.placeholders, state.replay.bindings)
        }
        switch result {
        case .failure(let failure): return .none(reason: [failure.description, hint].compactMap { $0 }.joined(separator: "\n\n"))
        case .success(let index): return .answer(answer(to: request, from: file.entries[index], placeholders, bindings))
        }
    }

    private func answer(
        to request: PreparedRequest, from entry: RecordedFile.Entry, _ placeholders: Placeholders, _ bindings: Bindings
    ) -> Answer {
        func unusable(_ reason: String) -> Answer { .failure(MockFailure("\(entry.entryPath) has no usable response: \(reason).")) }
        if let problem = entry.responseProblem { return unusable(problem) }
        let exchange = entry.exchange
        guard let response = exchange.response else {
            return exchange.failure == RecordedExchange.abandoned ? .never : .failure(URLError(recordedReason: exchange.failure ?? ""))
        }
        if let missing = response.missingBodyReason { return unusable(missing) }
        let passed = exchange.started == .distantPast ? 0 : Date().timeIntervalSince(exchange.started).rounded(.down)
        let replayed = ReplayedResponse(response, placeholders, bindings, movedBy: passed)
        var headers = HTTPHeaders()
        for field in replayed.headers {
            // Firefox joins fields of the same name with line breaks, and HTTP/2 has fields such as `:status`.
            let value = field.value.split(whereSeparator: \.isNewline).joined(separator: ", ")
            guard (try? HTTPHeaders.check(field.name, value)) != nil else { continue }
            headers[field.name] = headers[field.name].map { "\($0), \(value)" } ?? value
        }
        // The body in the file is complete and decompressed.
        (headers["Transfer-Encoding"], headers["Content-Encoding"]) = (nil, nil)
        if headers["Content-Length"] != nil, exchange.method != "HEAD" { headers["Content-Length"] = "\(replayed.body.count)" }
        if isForAnyHost, let origin = URLParts(exchange.url).origin {
            headers["Link"] = headers["Link"]?.replacingOccurrences(of: "<\(origin)/", with: "</")
            if let location = headers["Location"], location.hasPrefix("\(origin)/") {
                headers["Location"] = String(location.dropFirst(origin.count))
            }
        }
        guard let head = try? HTTPURLResponse.mock(response.status, headers: headers.dictionary, for: request.url) else {
            return unusable("\(response.status) is not an HTTP status")
        }
        let failure = exchange.failure.map { [StubResponse.Step.failure(URLError(recordedReason: $0))] } ?? []
        let body = Data(replayed.body)
        guard let times = response.times else { return Answer(head: head, steps: (body.isEmpty ? [] : [.data(body)]) + failure) }
        return Answer(head: head, steps: body.steps(at: times) + failure)
    }
}

extension Data {
    /// The lines at these times, in milliseconds. Lines after the last time come with it.
    fileprivate func steps(at times: [Double]) -> [StubResponse.Step] {
        var (steps, now, rest): ([StubResponse.Step], Double, Data) = ([], 0, self)
        for (index, time) in times.enumerated() where !rest.isEmpty {
            let end = index == times.count - 1 ? nil : rest.firstIndex(of: 0x0A)
            let line = rest[...(end ?? rest.endIndex - 1)]
            if time > now, time < 1e12 { steps.append(.wait(DispatchTimeInterval(seconds: (time - now) / 1000))) }
            now = Swift.max(now, time)
            steps.append(.data(Data(line)))
            rest = rest.dropFirst(line.count)
        }
        return rest.isEmpty ? steps : steps + [.data(Data(rest))]
    }
}
