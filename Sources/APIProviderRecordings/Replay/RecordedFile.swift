import APIProvider
import APIProviderMocks
import Foundation

/// The entries of a HAR file, in the order in which they were recorded.
struct RecordedFile: Sendable {
    struct Entry: Sendable {
        let exchange: RecordedExchange
        /// Such as `search.har: log.entries[3]`.
        let path: String
        /// The reason why it cannot answer; `nil` if it can.
        let problem: String?
        /// The request as it is compared.
        let request: ComparedRequest
        /// For the lines and cookies with placeholders that match other texts: those of their values.
        fileprivate let patterns: [String: [Pattern?]]
        /// The places of these lines. Those where a placeholder takes a text come first.
        let places: [String]
    }

    let entries: [Entry]
    let placeholders: Placeholders
    let comparison: Comparison

    /// - Parameter problems: For each exchange, the reason why it cannot answer.
    init(
        _ exchanges: [RecordedExchange], paths: [String], problems: [String?], _ placeholders: Placeholders, _ comparison: Comparison
    ) {
        let comparison = comparison.varying(with: exchanges)
        (self.placeholders, self.comparison) = (placeholders, comparison)
        entries = exchanges.indices.map { index in
            Entry(exchanges[index], paths[index], problems[index], comparison.request(exchanges[index], placeholders), placeholders)
        }
    }

    /// - Parameter comparison: Says under which names a request of another program's file has secrets.
    init(_ file: HARFile, name: String, _ comparison: Comparison) {
        var read = file.log.entries.enumerated().compactMap { index, entry in
            entry.exchange().map { (exchange: $0.exchange, path: "\(name): log.entries[\(index)]", problem: $0.problem) }
        }
        var (exchanges, comparison) = (read.map(\.exchange), comparison)
        let placeholders: Placeholders
        if let places = file.log._placeholders {
            placeholders = Placeholders(places.mapValues { Set($0.components(separatedBy: "; ")).subtracting([""]) })
        } else {
            comparison = comparison.forOtherProgram(exchanges)
            // By time, as the format says, and as they stand where that is the same.
            read = read.enumerated().sorted { ($0.element.exchange.started, $0.offset) < ($1.element.exchange.started, $1.offset) }.map(
                \.element)
            exchanges = read.enumerated().map { index, entry in
                var exchange = comparison.stored(entry.exchange)
                exchange.order = (2 * index, 2 * index + 1)
                return exchange
            }
            let replacer = SecretReplacer(exchanges, comparison)
            (exchanges, placeholders) = (replacer.exchanges, replacer.placeholders)
        }
        self.init(exchanges, paths: read.map(\.path), problems: read.map(\.problem), placeholders, comparison)
    }
}

extension RecordedFile.Entry {
    fileprivate init(
        _ exchange: RecordedExchange, _ path: String, _ problem: String?, _ request: ComparedRequest, _ placeholders: Placeholders
    ) {
        (self.exchange, self.path, self.problem, self.request) = (exchange, path, problem, request)
        let found = [request.lines, request.cookies].flatMap(\.values).map { place, values in
            (place, values.map { Pattern($0.text, at: place.general, placeholders) })
        }
        let patterns = Dictionary(uniqueKeysWithValues: found.filter { $1.contains { $0 != nil } })
        func isFree(_ place: String) -> Bool { patterns[place]?.contains { $0?.isFree == true } == true }
        self.patterns = patterns
        places = patterns.keys.filter { request.lines.values[$0] != nil }.sorted { isFree($0) && !isFree($1) }
    }

    /// Whether a line has what was sent. A cookie that only one side has is no mismatch, because the moment at which it is set is a race.
    func matches(_ place: String, _ sent: ComparedRequest, _ bindings: inout Bindings) -> Bool {
        let (mine, sent) = (request[place], sent[place])
        if place.hasPrefix("cookie "), mine.isEmpty || sent.isEmpty { return true }
        return mine.count == sent.count
            && zip(mine, sent).enumerated().allSatisfy { index, values in
                patterns[place]?[index].map { $0.matches(values.1.text, &bindings) } ?? (values.0 == values.1)
            }
    }
}
