import APIProvider
import APIProviderMocks
import Foundation

/// A line with another value in the request than in the entry.
private struct Difference {
    let place: String
    let description: String
    /// Whether the app creates such a value in each run.
    let isGenerated: Bool

    /// The name for `ignoring`.
    var name: String { place.hasPrefix("body.") ? String(place.general.dropFirst(5)) : place.startAndNames.names.last ?? "" }
}

extension Replay {
    /// The nearest entries and their differences from a request without an answer. Shows no secret of the request.
    func failure(of exchange: RecordedExchange, _ request: Lines) -> Failure {
        let found = entries.map { (entry: $0, differences: differences(of: $0, exchange, request)) }
        let near = found.enumerated().sorted { ($0.element.differences.count, $0.offset) < ($1.element.differences.count, $1.offset) }
            .prefix(3).map(\.element)
        guard let nearest = near.first?.differences else { return Failure(description: "The recording has no entries.") }
        var text =
            found.count == 1
            ? "The one entry of the recording does not answer it:"
            : "None of the \(found.count) entries of the recording answers it. The nearest:"
        for (entry, differences) in near {
            text += "\n\n    \(entry.exchange.summary) (\(entry.path))"
            for difference in differences.prefix(4) { text += "\n    \(difference.description)" }
            if differences.count > 4 { text += "\n    and \(differences.count - 4) more" }
        }
        if !nearest.isEmpty, nearest.allSatisfy({ $0.place == "host" }) {
            text += "\n\nTo answer the requests to any host, pass forAnyHost: true."
        }
        guard !nearest.isEmpty, nearest.allSatisfy(\.isGenerated) else { return Failure(description: text) }
        let names = Set(nearest.map { "\"\($0.name)\"" }).sorted().joined(separator: ", ")
        let fileName = nearest.contains { $0.name.hasSuffix("filename") } ? "give the upload a fileName:, or " : ""
        text += "\n\nThe app creates this in each run, so recording it again does not help: \(fileName)pass ignoring: [\(names)]."
        return Failure(description: text, isCuredByRecording: false)
    }

    private func differences(of entry: Entry, _ exchange: RecordedExchange, _ request: Lines) -> [Difference] {
        let redactor = ReportRedactor(for: nil, hiding: options.hidden)
        var bindings = bindings
        let cookies = request.values.keys.filter(\.isCookie).sorted().filter { !entry.matches($0, request, &bindings) }
        var isMatching = Dictionary(uniqueKeysWithValues: entry.holes.map { ($0, entry.matches($0, request, &bindings)) })
        if options.isForAnyHost { isMatching["host"] = true }
        // A placeholder that the app sends literally is equal, and no match.
        let equal = isMatching.filter { !$0.value && entry.request.values[$0.key] == request.values[$0.key] }.keys.sorted()
        let compared = entry.comparesConditions ? request : request.withoutConditions
        let lines = entry.request.places(differingFrom: compared).filter { !$0.isCookie && isMatching[$0] != true }
        return (lines + equal + cookies).map { place in
            let values = [entry.request.values[place]?.first, request.values[place]?.first]
            var shown = values.map { value in
                guard let value else { return "nothing" }
                let isText = value.kind == .text
                if isSecret(value, at: place, of: exchange, request) {
                    return isText ? value.text.isEmpty ? "an empty text" : "another text" : "another number"
                }
                return isText ? redactor.message(value.text).debugDescription : value.description
            }
            if equal.contains(place) { shown[0] = "the text that it stands for" }
            let texts = values.map { $0?.text ?? "" }
            let mismatch = Mismatch(place, expected: shown[0], actual: shown[1])
            return Difference(
                place: place, description: "\(place): expected \(mismatch.expected), got \(mismatch.actual)",
                isGenerated: place != "body" && texts[0].isGenerated(at: entry.exchange.started, as: texts[1]))
        }
    }

    /// Whether the value is a secret, or has one inside.
    private func isSecret(_ value: Lines.Value, at place: String, of exchange: RecordedExchange, _ request: Lines) -> Bool {
        guard placeholders.places[value.text] == nil else { return false }
        return exchange.markedSecrets.contains { Array(value.text.utf8).contains($0) }
            || NamedValue.values(value, at: place, request).contains { options.label(of: $0, inResponse: false) != nil }
    }
}

// MARK: - Texts

extension String {
    /// Whether a program creates such values in each run: texts with UUIDs, times of the run, and random texts of one length.
    ///
    /// - Parameters:
    ///   - started: The time of this text's recording.
    ///   - other: A text of now.
    fileprivate func isGenerated(at started: Date, as other: String) -> Bool {
        let masked = [self, other].map { Self.uuid.replacing(in: $0) { _ in "*" } }
        if masked[0] == masked[1], masked[0] != self { return true }
        if let mine = time, let theirs = other.time {
            return abs(mine.timeIntervalSince(started)) < 600 && abs(theirs.timeIntervalSinceNow) < 600
        }
        return utf8.count == other.utf8.count && looksRandom && other.looksRandom
    }

    private static let uuid = Expression("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
}
