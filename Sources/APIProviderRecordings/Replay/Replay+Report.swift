import APIProvider
import APIProviderMocks
import Foundation

/// A line in which a request differs from an entry.
private struct Difference: CustomStringConvertible {
    let place: String
    let expected: String
    let actual: String
    /// Whether the app makes such a value anew in each run.
    let isMadeAnew: Bool

    var description: String { "\(place): expected \(expected), got \(actual)" }

    /// The name for `ignoring`.
    var name: String { place.hasPrefix("body.") ? String(place.general.dropFirst(5)) : place.startAndNames.names.last ?? "" }
}

extension Replay {
    /// The nearest entries and what differs, for a request that none answers. It shows no secret of the request.
    func failure(of exchange: RecordedExchange, _ request: ComparedRequest) -> Failure {
        let found = file.entries.map { (entry: $0, differences: differences(of: $0, exchange, request)) }
        let near = found.enumerated().sorted { ($0.element.differences.count, $0.offset) < ($1.element.differences.count, $1.offset) }
            .prefix(3).map(\.element)
        guard let nearest = near.first?.differences else { return Failure(description: "The recording has no entries.") }
        var text =
            found.count == 1
            ? "The one entry of the recording does not answer it:"
            : "None of the \(found.count) entries of the recording answers it. The nearest:"
        for (entry, differences) in near {
            text += "\n\n    \(entry.exchange.summary) (\(entry.path))"
            for difference in differences.prefix(4) { text += "\n    \(difference)" }
            if differences.count > 4 { text += "\n    and \(differences.count - 4) more" }
        }
        if !nearest.isEmpty, nearest.allSatisfy({ $0.place == "host" }) {
            text += "\n\nTo answer the requests to any host, pass forAnyHost: true."
        }
        guard !nearest.isEmpty, nearest.allSatisfy(\.isMadeAnew) else { return Failure(description: text) }
        let names = Set(nearest.map { "\"\($0.name)\"" }).sorted().joined(separator: ", ")
        let fileName = nearest.contains { $0.name.hasSuffix("filename") } ? "give the upload a fileName:, or " : ""
        text += "\n\nThe app makes this anew in each run, so recording it again does not help: \(fileName)pass ignoring: [\(names)]."
        return Failure(description: text, isCuredByRecording: false)
    }

    private func differences(of entry: RecordedFile.Entry, _ exchange: RecordedExchange, _ request: ComparedRequest) -> [Difference] {
        var attempt = Attempt(bindings, file.placeholders)
        let otherCookies = request.cookies.keys.sorted().filter { !entry.matches(cookie: $0, request, &attempt) }
        var isMatching = Dictionary(uniqueKeysWithValues: entry.patterns.map { ($0.place, entry.matches($0, request, &attempt)) })
        if file.comparison.isForAnyHost { isMatching["host"] = true }
        let (mine, sent) = (entry.request.lines.values, request.lines.values)
        // A placeholder that the app sends as it is may be equal, and no match.
        let equal = isMatching.filter { !$0.value && mine[$0.key] == sent[$0.key] }.keys.sorted()
        let places = entry.request.lines.places(differingFrom: request.lines).filter { isMatching[$0] != true } + equal
        let lines = places.map { place in (place, mine[place]?.first, sent[place]?.first) }
        let cookies = otherCookies.map { name in
            (
                "cookie \(name)", entry.request.cookies[name].map { Lines.Value(kind: .text, text: $0) },
                request.cookies[name].map { Lines.Value(kind: .text, text: $0) }
            )
        }
        return (lines + cookies).map { place, expected, actual in
            let texts = (expected?.text ?? "", actual?.text ?? "")
            let start = texts.0.startOfExcerpt(comparedWith: texts.1)
            var shown = [expected, actual].map { value in
                guard let value, value.kind == .text else { return value?.description ?? "nothing" }
                guard isSecret(value, at: place, exchange) else { return value.text.excerpt(from: start) }
                return value.text.isEmpty ? "an empty text" : "another text"
            }
            if equal.contains(place) { shown[0] = "the text that it stands for" }
            // Both may look alike: `é` has one scalar, or two.
            if shown[0] == shown[1], !texts.0.isEmpty { shown = [texts.0.showingScalars, texts.1.showingScalars] }
            let isMadeAnew = place != "body" && texts.0.isMadeAnew(at: entry.exchange.started, as: texts.1)
            return Difference(place: place, expected: shown[0], actual: shown[1], isMadeAnew: isMadeAnew)
        }
    }

    private func isSecret(_ value: Lines.Value, at place: String, _ exchange: RecordedExchange) -> Bool {
        guard file.placeholders.places[value.text] == nil else { return false }
        return exchange.markedSecrets.contains { Array(value.text.utf8).contains($0) }
            || NamedValue(value, at: place).flatMap { file.comparison.names.label(of: $0, inResponse: false) } != nil
    }
}

// MARK: - Texts

extension String {
    /// The place from which to show both texts, so that the first 80 characters have the first difference.
    fileprivate func startOfExcerpt(comparedWith other: String) -> Int {
        let place = zip(self, other).prefix { $0 == $1 }.count
        return max(count, other.count) <= 80 || place < 60 || self == other ? 0 : place - 30
    }

    /// 80 characters, in quotes.
    fileprivate func excerpt(from start: Int) -> String {
        let rest = dropFirst(start)
        return ((start > 0 ? "…" : "") + rest.prefix(80) + (rest.count > 80 ? "…" : "")).debugDescription
    }

    fileprivate var showingScalars: String {
        unicodeScalars.prefix(80).map { $0.isASCII ? "\($0)" : "\\u{\(String($0.value, radix: 16, uppercase: true))}" }.joined()
    }

    /// Whether a program makes such values anew in each run: texts with UUIDs, times of the run, and random texts of one length.
    ///
    /// - Parameter started: When this text was recorded. The other is of now.
    fileprivate func isMadeAnew(at started: Date, as other: String) -> Bool {
        let masked = [self, other].map { Self.uuid.replacing(in: $0) { _ in "*" } }
        if masked[0] == masked[1], masked[0] != self { return true }
        if let mine = time, let theirs = other.time {
            return abs(mine.timeIntervalSince(started)) < 600 && abs(theirs.timeIntervalSinceNow) < 600
        }
        return utf8.count == other.utf8.count && looksRandom && other.looksRandom
    }

    private static let uuid = Expression("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
}
