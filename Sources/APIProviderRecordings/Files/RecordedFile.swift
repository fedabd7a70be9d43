import APIProvider
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
    }

    let entries: [Entry]
    let placeholders: Placeholders
    /// Whether another program has written it.
    let isFromOtherProgram: Bool

    init(_ exchanges: [RecordedExchange], _ placeholders: Placeholders, name: String, _ comparison: Comparison) {
        entries = exchanges.enumerated().map { index, exchange in
            let request = comparison.request(exchange, placeholders)
            return Entry(exchange: exchange, path: "\(name): log.entries[\(index)]", problem: nil, request: request)
        }
        (self.placeholders, isFromOtherProgram) = (placeholders, false)
    }

    /// - Parameter comparison: Says under which names a request of another program's file has secrets.
    init(_ file: HARFile, name: String, _ comparison: Comparison) {
        let read = file.log.entries.enumerated().compactMap { index, entry in
            entry.exchange().map { (exchange: $0.exchange, path: "\(name): log.entries[\(index)]", problem: $0.problem) }
        }
        if let places = file.log._placeholders {
            let placeholders = Placeholders(places.mapValues { Set($0.components(separatedBy: "; ")).subtracting([""]) })
            entries = read.map {
                Entry(exchange: $0.exchange, path: $0.path, problem: $0.problem, request: comparison.request($0.exchange, placeholders))
            }
            (self.placeholders, isFromOtherProgram) = (placeholders, false)
        } else {
            // By time, as the format says, and as they stand where that is the same.
            let sorted = read.enumerated().sorted { ($0.element.exchange.started, $0.offset) < ($1.element.exchange.started, $1.offset) }
                .map(\.element)
            let ordered = sorted.enumerated().map { index, entry in
                var exchange = comparison.stored(entry.exchange)
                exchange.order = (2 * index, 2 * index + 1)
                return exchange
            }
            let replacer = SecretReplacer(ordered, comparison, isFromOtherProgram: true)
            let placeholders = replacer.placeholders
            entries = zip(sorted, replacer.exchanges).map { entry, exchange in
                Entry(exchange: exchange, path: entry.path, problem: entry.problem, request: comparison.request(exchange, placeholders))
            }
            (self.placeholders, isFromOtherProgram) = (placeholders, true)
        }
    }
}
