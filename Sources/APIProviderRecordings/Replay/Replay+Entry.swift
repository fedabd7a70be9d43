import APIProvider
import APIProviderMocks
import Foundation

extension Replay {
    /// A file's entry, and the compared request.
    struct Entry: Sendable {
        let exchange: RecordedExchange
        /// Such as `search.har: log.entries[3]`.
        let path: String
        /// The reason why the entry cannot answer, if any.
        let problem: String?
        let request: Lines
        /// The sent conditions, and whether a request needs the same.
        let conditions: Lines
        let comparesConditions: Bool
        /// The values' patterns for each line with a placeholder for other texts.
        private let patterns: [String: [Pattern?]]
        /// The places of these lines, without cookies. Those where a placeholder takes a text come first.
        let holes: [String]
    }
}

extension Replay.Entry {
    init(_ entry: HARFile.Entry, _ options: RecordingOptions, _ placeholders: Placeholders) {
        (exchange, path, problem) = (entry.exchange, entry.path, entry.problem)
        comparesConditions = RecordingOptions.comparesConditions(of: entry.exchange)
        let lines = options.request(entry.exchange, placeholders)
        conditions = lines.conditions
        let request = comparesConditions ? lines : lines.withoutConditions
        let found = request.values.map { place, values in
            (place, values.map { Pattern($0.text, at: place.general, placeholders) })
        }
        let patterns = Dictionary(uniqueKeysWithValues: found.filter { $1.contains { $0 != nil } })
        func takesText(_ place: String) -> Bool { patterns[place]?.contains { $0?.takesText == true } == true }
        (self.request, self.patterns) = (request, patterns)
        holes = patterns.keys.filter { !$0.isCookie }.sorted { takesText($0) && !takesText($1) }
    }

    /// Whether the sent line equals the recorded one. A placeholder takes no other kind of value, such as `null` for a text. A cookie on one
    /// side alone is no mismatch: when a cookie is set is a race.
    func matches(_ place: String, _ sent: Lines, _ bindings: inout Bindings) -> Bool {
        let (recorded, sent) = (request.values[place] ?? [], sent.values[place] ?? [])
        if place.isCookie, recorded.isEmpty || sent.isEmpty { return true }
        return recorded.count == sent.count
            && zip(recorded, sent).enumerated().allSatisfy { index, values in
                patterns[place]?[index].map { values.0.kind == values.1.kind && $0.matches(values.1.text, &bindings) }
                    ?? (values.0 == values.1)
            }
    }
}
