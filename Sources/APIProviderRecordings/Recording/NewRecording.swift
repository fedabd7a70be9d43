import APIProvider
import APIProviderMocks
import Foundation

/// The requests of a test and their responses, as a file.
struct NewRecording {
    /// With the entries of the old file where nothing has changed.
    let file: HARFile
    /// The reasons why it cannot be written.
    private(set) var problems: [String]
    /// What somebody who commits the file should know.
    private(set) var warnings: [String] = []
    let replacer: SecretReplacer
    let replay: Replay

    /// - Parameters:
    ///   - exchanges: In the order in which they began.
    ///   - old: The file that is there.
    init(
        _ exchanges: [RecordedExchange], _ comparison: Comparison, environment: [String: String] = [:], test: String, name: String,
        replacing old: HARFile? = nil
    ) {
        let comparison = comparison.varying(with: exchanges)
        replacer = SecretReplacer(exchanges.map(comparison.stored), comparison, environment: environment)
        let placeholders = replacer.placeholders
        let recorded = RecordedFile(
            replacer.exchanges, paths: exchanges.indices.map { "\(name): log.entries[\($0)]" }, problems: exchanges.map { _ in nil },
            placeholders, comparison)
        replay = Replay(recorded)
        var log = HARFile.Log(entries: replacer.exchanges.map { HARFile.Entry($0) })
        log._test = test
        log._placeholders = placeholders.places.mapValues { $0.sorted().joined(separator: "; ") }
        file = HARFile(log: old.map { log.keepingEntries(of: $0.log, comparison) } ?? log)
        let replacer = replacer
        problems = exchanges.enumerated().compactMap { index, exchange in
            guard let coding = exchange.headers["Content-Encoding"], !coding.isField("identity"), !exchange.body.isEmpty else { return nil }
            return
                "\(replacer.summary(of: index)) has a body with the Content-Encoding \(coding), in which no secret can be found. While recording, send it "
                + "uncompressed."
        }
        problems += replacer.problems
        for (label, places) in placeholders.places.sorted(by: { $0.key < $1.key }) where places.contains(where: replacer.holdsSecret) {
            problems.append("A secret is the name of a member around \(label). Give that member another name with editing:.")
        }
        if problems.isEmpty { problems = replayProblems() }
        warnings = findWarnings(exchanges, comparison)
    }

    // MARK: - The replay before it is written

    /// The requests that do not find their own entries if the app has other secrets: in the order in which they were sent, and with those
    /// in flight together the other way round.
    private func replayProblems() -> [String] {
        let sent = replacer.exchanges.map(replay.file.placeholders.withOtherSecrets)
        let order = Array(sent.indices)
        let problems = problems(sending: sent, in: order, isSwapped: false)
        let swapped = replacer.exchanges.swappingInFlight
        return problems.isEmpty && swapped != order ? self.problems(sending: sent, in: swapped, isSwapped: true) : problems
    }

    private func problems(sending sent: [RecordedExchange], in order: [Int], isSwapped: Bool) -> [String] {
        var replay = replay
        return order.compactMap { index in
            let summary = replacer.exchanges[index].summary
            switch replay.entry(for: sent[index]) {
            case .failure(let failure):
                let reason = isSwapped ? " if it is sent before a request that was in flight with it. Send one after the other." : "."
                return "\(summary) finds no entry in a replay\(reason) \(failure.description)"
            case .success(index): return nil
            case .success(let found):
                let (mine, other) = (replay.file.entries[index], replay.file.entries[found])
                guard isSwapped else {
                    return
                        "\(summary) gets the response of entry \(found) in a replay, and not that of entry \(index), because it sends a secret "
                        + "that an earlier request has sent in another place. Send the requests in the same order."
                }
                // Nobody can tell two equal requests apart, not even the server.
                if mine.request == other.request { return nil }
                return
                    "Two requests at once differ only in a secret: \(summary). A replay cannot tell them apart: send one after the other."
            }
        }
    }
}

extension [RecordedExchange] {
    /// The indices in an order in which each two that were in flight together have changed places.
    fileprivate var swappingInFlight: [Int] {
        var (rest, order): ([Int], [Int]) = (Array<Int>(indices), [])
        var ends = indices.sorted { self[$0].order.end > self[$1].order.end }
        var isTaken = [Bool](repeating: false, count: count)
        while let firstToEnd = ends.last {
            guard !isTaken[firstToEnd] else {
                ends.removeLast()
                continue
            }
            // The last that began before any of the others had ended.
            let inFlight = rest.prefix { self[$0].order.begin <= self[firstToEnd].order.end }
            let next = rest.remove(at: inFlight.count - 1)
            order.append(next)
            isTaken[next] = true
        }
        return order
    }
}

// MARK: - Entries that have not changed

extension HARFile.Log {
    /// What must be the same in an entry that stays as it is in the file. Other headers are new in each response.
    private struct Identity: Hashable {
        let request: ComparedRequest
        let status: Int
        let headers: [String?]
        let body: Data
        let failure: String?
        /// The placeholders in each part. An old entry may hold what the test hides by now, and its placeholders may be those of others.
        let standing: [[String]]

        init?(_ entry: HARFile.Entry, _ comparison: Comparison, _ placeholders: Placeholders, _ labels: [String]) {
            guard let (exchange, _) = entry.exchange() else { return nil }
            standing = [false, true].flatMap { isResponse in
                Message(exchange, isResponse: isResponse).parts.map { part in labels.filter { part.bytes.contains($0) } }
            }
            request = comparison.request(exchange, placeholders)
            (status, failure) = (exchange.response?.statusCode ?? 0, exchange.failure)
            headers = ["Content-Type", "Location", "Link", "Set-Cookie", "Cache-Control"].map { name in
                exchange.response?.headers[name].map { Self.expires.replacing(in: placeholders.canonical($0)) { _ in "" } }
            }
            body = placeholders.canonical(exchange.response?.body ?? Data())
        }

        private static let expires = Expression("expires=[^;]*", isCaseSensitive: false)
    }

    fileprivate func keepingEntries(of old: HARFile.Log, _ comparison: Comparison) -> HARFile.Log {
        let placeholders = [old, self].map { Placeholders(($0._placeholders ?? [:]).mapValues { _ in [] }) }
        let labels = Set([old, self].flatMap { ($0._placeholders ?? [:]).keys }).sorted()
        var olds: [Identity: [HARFile.Entry]] = [:]
        for entry in old.entries.reversed() {
            if let identity = Identity(entry, comparison, placeholders[0], labels) { olds[identity, default: []].append(entry) }
        }
        var log = self
        for index in entries.indices {
            guard let identity = Identity(entries[index], comparison, placeholders[1], labels), let entry = olds[identity]?.popLast() else {
                continue
            }
            log.entries[index] = entry
        }
        return log
    }
}
