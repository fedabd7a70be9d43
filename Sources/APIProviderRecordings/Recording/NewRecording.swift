import APIProvider
import Foundation

/// A test's requests and responses, as a file.
struct NewRecording {
    /// The old file for unchanged answers.
    let file: HARFile
    /// The reasons to write no file.
    private(set) var problems: [String]
    /// Sentences for whoever commits the file.
    private(set) var warnings: [String] = []
    let replacer: SecretReplacer
    let replay: Replay

    /// - Parameters:
    ///   - exchanges: In the order of the requests.
    ///   - old: The earlier file.
    init(
        _ exchanges: [RecordedExchange], _ options: RecordingOptions, environment: [String: String] = [:], test: String, name: String,
        replacing old: HARFile? = nil
    ) {
        let options = options.varying(with: exchanges), exchanges = exchanges.ordered(options)
        let replacer = SecretReplacer(exchanges, options, environment: environment)
        let placeholders = replacer.placeholders
        let new = HARFile(replacer.exchanges, name: name, test: test, placeholders)
        (self.replacer, replay) = (replacer, Replay(new, options))
        // The old file may contain a secret that the test did not hide then.
        file =
            old.flatMap { new.isSame(as: $0, options) && !replacer.containsSecret(String(decoding: $0.data, as: UTF8.self)) ? $0 : nil }
            ?? new
        problems = exchanges.enumerated().compactMap { index, exchange in
            guard let coding = exchange.headers["Content-Encoding"], !coding.isField("identity"), !exchange.body.isEmpty else { return nil }
            return
                "\(replacer.summary(of: index)) has a body with the Content-Encoding \(coding), in which no secret can be found. While recording, send it "
                + "uncompressed."
        }
        problems += replacer.problems
        for (label, places) in placeholders.places.sorted(by: { $0.key < $1.key }) where places.contains(where: replacer.containsSecret) {
            problems.append("A secret is the name of a member around \(label). Give that member another name with editing:.")
        }
        if problems.isEmpty { problems = replayProblems() }
        warnings = findWarnings(exchanges, options)
    }

    // MARK: - The replay before writing

    /// Replays an app's requests with other secrets, and returns those without their own entries. Each request follows the ended ones
    /// alone: those in flight may come later.
    private func replayProblems() -> [String] {
        let exchanges = replacer.exchanges
        let sent = exchanges.map(replay.placeholders.withOtherSecrets)
        let begins = exchanges.enumerated().map { (order: $1.order.begin, isEnd: false, index: $0) }
        let ends = exchanges.enumerated().map { (order: $1.order.end, isEnd: true, index: $0) }
        var replay = replay
        return (begins + ends).sorted { ($0.order, $0.index) < ($1.order, $1.index) }.compactMap { _, isEnd, index in
            if isEnd {
                _ = replay.entry(for: sent[index])
                return nil
            }
            let exchange = exchanges[index]
            switch replay.choice(for: sent[index]) {
            case .failure(let failure):
                return "\(exchange.summary) finds no entry in a replay, where requests in flight may change places. \(failure.description)"
            case .success(let choice):
                let found = choice.number
                // Not even the server tells equal requests apart.
                if replay.entries[found].request == replay.entries[index].request { return nil }
                return exchanges[found].order.end > exchange.order.begin
                    ? "Two requests at once differ only in a secret: \(exchange.summary). A replay cannot tell them apart: send one after the other."
                    : "\(exchange.summary) gets the response of entry \(found) in a replay, and not that of entry \(index), because it sends a secret "
                        + "that an earlier request has sent in another place. Send the requests in the same order."
            }
        }
    }
}

// MARK: - Unchanged answers

extension HARFile {
    /// Whether all entries equal the old ones, except for times and for headers that change in each response.
    fileprivate func isSame(as old: HARFile, _ options: RecordingOptions) -> Bool {
        guard let placeholders, test == old.test, placeholders.places == old.placeholders?.places, entries.count == old.entries.count else {
            return false
        }
        return zip(entries, old.entries).allSatisfy { $0.exchange.isSame(as: $1.exchange, options, placeholders) }
    }
}

extension RecordedExchange {
    fileprivate func isSame(as old: RecordedExchange, _ options: RecordingOptions, _ placeholders: Placeholders) -> Bool {
        let (headers, oldHeaders) = (response?.headers ?? [:], old.response?.headers ?? [:])
        // The old file may contain the secret of such a header.
        let withSecrets = headers.filter { placeholders.places[$1] != nil || !placeholders.occurrences(in: $1).isEmpty }.map(\.name)
        return failure == old.failure && response?.statusCode == old.response?.statusCode
            && Set(headers.map { $0.name.lowercased() }) == Set(oldHeaders.map { $0.name.lowercased() })
            && options.request(self, placeholders) == options.request(old, placeholders)
            && placeholders.canonical(response?.body ?? Data()) == placeholders.canonical(old.response?.body ?? Data())
            && (["Content-Type", "Location", "Link", "Set-Cookie", "Cache-Control"] + withSecrets).allSatisfy { name in
                let values = [headers[name], oldHeaders[name]].map { value in
                    value.map { Self.expires.replacing(in: placeholders.canonical($0)) { _ in "" } }
                }
                return values[0].map { Array($0.utf8) } == values[1].map { Array($0.utf8) }
            }
    }

    private static let expires = Expression("expires=[^;]*", isCaseSensitive: false)
}
