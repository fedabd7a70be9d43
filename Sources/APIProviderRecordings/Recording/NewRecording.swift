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

    /// The requests that do not find their own entries if the app has other secrets, and those that only find them in this order.
    private func replayProblems() -> [String] {
        var replay = replay
        var binding: [Int] = []
        let problems = replacer.exchanges.enumerated().compactMap { index, exchange -> String? in
            let count = replay.bindings.texts.count
            switch replay.entry(for: replay.file.placeholders.withOtherSecrets(exchange)) {
            case .failure(let failure): return "\(exchange.summary) finds no entry in a replay. \(failure.description)"
            case .success(index):
                if replay.bindings.texts.count > count { binding.append(index) }
                return nil
            case .success(let found):
                return
                    "\(exchange.summary) gets the response of entry \(found) in a replay, and not that of entry \(index), because it sends a secret "
                    + "that an earlier request has sent in another place. Send the requests in the same order."
            }
        }
        return problems.isEmpty ? problemsAtOnce(binding) : problems
    }

    /// The requests that were in flight with one that differs only in a secret which neither has sent before.
    ///
    /// - Parameter binding: The entries that give a placeholder its text, in the order in which they began.
    private func problemsAtOnce(_ binding: [Int]) -> [String] {
        Dictionary(grouping: binding, by: replay.linesWithoutSecrets).values.flatMap { group in
            var inFlight: [Int] = []
            return group.compactMap { number -> String? in
                let (exchange, request) = (replacer.exchanges[number], replay.file.entries[number].request)
                inFlight.removeAll { replacer.exchanges[$0].order.end < exchange.order.begin }
                defer { inFlight.append(number) }
                guard inFlight.contains(where: { request.hasOtherSecrets(than: replay.file.entries[$0].request) }) else { return nil }
                return
                    "Two requests at once differ only in a secret: \(exchange.summary). A replay cannot tell them apart: send one after the other."
            }
        }
    }
}

extension ComparedRequest {
    /// Whether a line or a cookie of both differs. A cookie that only one side has is set at any moment.
    fileprivate func hasOtherSecrets(than other: ComparedRequest) -> Bool {
        lines != other.lines || cookies.values.contains { place, values in other.cookies.values[place].map { $0 != values } == true }
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
