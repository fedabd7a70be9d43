import APIProvider
import Foundation
import MockNetwork

/// A line in which a request differs from an entry.
private struct Difference: CustomStringConvertible {
    let place: Place
    let expected: String
    let actual: String
    /// Whether the app makes such a value anew in each run.
    let isMadeAnew: Bool

    var description: String { "\(place): expected \(expected), got \(actual)" }

    /// The name for `ignoring`.
    var name: String {
        let general = place.general
        if general.hasPrefix("body.") { return String(general.dropFirst(5)) }
        return place.names.start == "path" ? place.text : place.names.names.last ?? ""
    }
}

extension Replay {
    /// The nearest entries and what differs, for a request that none answers. It shows no secret of the request.
    func failure(of exchange: RecordedExchange, _ request: ComparedRequest) -> Failure {
        let found = entries.map { ($0, differences(of: $0, exchange, request)) }
        let near = found.enumerated().sorted { ($0.element.1.count, $0.offset) < ($1.element.1.count, $1.offset) }.prefix(3).map(\.element)
        guard let nearest = near.first?.1 else { return Failure(description: "The recording has no entries.") }
        var text =
            entries.count == 1
            ? "The one entry of the recording does not answer it:" : "None of the \(entries.count) entries of the recording answers it. The nearest:"
        for (entry, differences) in near {
            text += "\n\n    \(entry.exchange.summary) (\(entry.path))"
            for difference in differences.prefix(4) { text += "\n    \(difference)" }
            if differences.count > 4 { text += "\n    and \(differences.count - 4) more" }
        }
        if nearest.allSatisfy({ $0.place.text == "host" }) { text += "\n\nTo answer the requests to any host, pass forAnyHost: true." }
        guard !nearest.isEmpty, nearest.allSatisfy(\.isMadeAnew) else { return Failure(description: text) }
        let names = Set(nearest.map { "\"\($0.name)\"" }).sorted().joined(separator: ", ")
        let fileName = nearest.contains { $0.name.hasSuffix("filename") } ? "give the upload a fileName:, or " : ""
        text += "\n\nThe app makes this anew in each run, so recording it again does not help: \(fileName)pass ignoring: [\(names)]."
        return Failure(description: text, isCuredByRecording: false)
    }

    private func differences(of entry: Entry, _ exchange: RecordedExchange, _ request: ComparedRequest) -> [Difference] {
        let (mine, sent) = (comparedLines(entry.request.lines, entry), comparedLines(request.lines, entry))
        var attempt = Attempt(bindings, placeholders)
        let otherCookies = request.cookies.keys.sorted().filter { !entry.matches(cookie: $0, request, &attempt) }
        let matching = Set(entry.patterns.filter { entry.matches($0, request, &attempt) }.map(\.place))
        var differences = mine.places(differingFrom: sent).filter { !matching.contains($0) }.map { place in
            Difference(place, mine.values[place]?.first, sent.values[place]?.first, entry.exchange.started, isSecret(exchange))
        }
        for name in otherCookies {
            let texts = [entry.request.cookies[name], request.cookies[name]].map { $0.map { Lines.Value(.text($0)) } }
            differences.append(Difference(Place("cookie \(name)"), texts[0], texts[1], entry.exchange.started, isSecret(exchange)))
        }
        return differences
    }

    private func isSecret(_ exchange: RecordedExchange) -> (Place, String) -> Bool {
        { place, text in
            placeholders.places[text] == nil
                && (NamedValue(.init(.text(text)), at: place, Lines()).flatMap { comparison.names.label(of: $0, inResponse: false) } != nil
                    || exchange.markedSecrets.contains { text.contains($0) })
        }
    }
}

extension Difference {
    init(
        _ place: Place, _ expected: Lines.Value?, _ actual: Lines.Value?, _ started: Date, _ isSecret: (Place, String) -> Bool
    ) {
        let texts = (expected?.text ?? "", actual?.text ?? "")
        let start = texts.0.startOfExcerpt(comparedWith: texts.1)
        func shown(_ value: Lines.Value?) -> String {
            guard let value else { return "nothing" }
            guard case .text(let text) = value.content else { return value.description }
            if isSecret(place, text) { return text.isEmpty ? "an empty text" : "another text" }
            return text.excerpt(from: start)
        }
        var shownTexts = (shown(expected), shown(actual))
        if shownTexts.0 == shownTexts.1, texts.0 != "" {
            // Both look alike: `é` has one scalar, or two.
            shownTexts = (texts.0.showingScalars, texts.1.showingScalars)
        }
        (self.place, self.expected, self.actual) = (place, shownTexts.0, shownTexts.1)
        isMadeAnew = place.text != "body" && texts.0.isMadeAnew(at: started, as: texts.1)
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

    /// The time that it says, in seconds or milliseconds since 1970, in ISO 8601, or as an HTTP date.
    var time: Date? {
        if let number = Double(self) {
            let digits = prefix(while: \.isNumber).count
            return [10, 13].contains(digits) ? Date(timeIntervalSince1970: digits == 13 ? number / 1000 : number) : nil
        }
        return Date(iso8601: self) ?? Date(httpDate: self, now: Date())
    }
}
