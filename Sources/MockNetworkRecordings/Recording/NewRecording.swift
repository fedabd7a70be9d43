import APIProvider
import Foundation

/// The requests of a test and their responses, as a file.
struct NewRecording {
    let content: Data
    let exchanges: [RecordedExchange]
    let replacer: SecretReplacer
    let file: RecordedFile
    let options: RecordingOptions
    /// The reasons why it cannot be written.
    private(set) var problems: [String]

    /// - Parameter exchanges: In the order in which they began.
    init(_ exchanges: [RecordedExchange], _ options: RecordingOptions, test: String?, name: String) throws {
        self.options = options
        replacer = SecretReplacer(exchanges, options.keepsEverything ? nil : options.names, ignoring: options.ignored)
        self.exchanges = replacer.redactedExchanges
        content = try RecordedFile.content(of: self.exchanges, replacer.replacedSecrets, test: test)
        file = try RecordedFile(content, name: name)
        problems = replacer.problems
        if problems.isEmpty { problems = remainingSecrets() }
        if problems.isEmpty { problems = replayProblems() }
    }

    /// Sentences about the secrets that still stand in what would be written, in a notation in which they are not replaced.
    private func remainingSecrets() -> [String] {
        // What is ignored is no secret, and an ordinary text stays where its name is no name of the list.
        let secrets = replacer.replacedSecrets.filter { !$0.isOrdinary && $0.origin != .ignored }
        let check = SecretCheck(secrets.map { String(decoding: $0.text, as: UTF8.self) })
        return exchanges.flatMap { exchange in
            exchange.places.flatMap { place, bytes in
                check.secrets(in: bytes).sorted().map { index in
                    "\(exchange.requestSummary) has \(secrets[index].placeholder) in \(place), written in a way in which it is not replaced"
                }
            }
        }
    }

    /// The requests that do not find their own entries: in the order in which they were sent, and with those in flight together the other
    /// way round.
    private func replayProblems() -> [String] {
        let sent = replacer.replayedExchanges
        let order = Array(exchanges.indices)
        let problems = problems(sending: sent, in: order, isSwapped: false)
        guard problems.isEmpty else { return problems }
        let swapped = exchanges.swappingInFlight
        return swapped == order ? [] : self.problems(sending: sent, in: swapped, isSwapped: true)
    }

    private func problems(sending sent: [RecordedExchange], in order: [Int], isSwapped: Bool) -> [String] {
        var replay = Replay(file, hiding: options.names, ignoring: options.ignored, forAnyHost: options.isForAnyHost)
        var problems: [String] = []
        for index in order {
            let line = exchanges[index].requestSummary
            switch replay.entry(for: sent[index]) {
            case .failure(let failure): problems.append("\(line) finds no entry in a replay: \(failure.description)")
            case .success(let found) where found != index && !(isSwapped && sent[found].isSameRequest(as: sent[index])):
                let other = "\(line) gets the response of \(exchanges[found].requestSummary) (entry \(found), and not \(index)) in a replay"
                let isSecret = replacer.replacedSecrets.contains { $0.origin == .request }
                if isSwapped {
                    problems.append(
                        "\(other) if it is sent first. They were in flight together, and differ "
                            + "\(isSecret ? "only in secrets of the test or the environment" : "in nothing that replay compares")"
                            + ", which cannot tell them apart in another order. Send the second after the first has its response.")
                } else {
                    problems.append("\(other). Earlier requests sent the same secrets in another order; send them in the same order.")
                }
            case .success: break
            }
        }
        return problems
    }
}

extension NewRecording {
    /// Sentences that a reader of the file should know.
    var warnings: [String] {
        var warnings: [String] = []
        let names = replacer.placeholders
        for exchange in exchanges {
            guard let response = exchange.response else { continue }
            if !response.body.isUTF8, response.body.count >= 1 << 20 {
                warnings.append("\(exchange.requestSummary) has a binary body of \(response.body.count >> 20) MB.")
            }
            guard response.body.mayHaveExpiries else { continue }
            let leaves = LeafFinder.leaves(ofBody: response.body, type: response.value(of: "Content-Type") ?? "")
            let moving = Set(leaves.expiries(besides: leaves.around(names.occurrences(in: response.body).map(\.range))).map(\.text.range))
            for leaf in leaves where leaf.kind != .key && leaf.name.isExpiry && !moving.contains(leaf.text.range) {
                guard let end = leaf.text.string.time, end > Date() else { continue }
                warnings.append("\(exchange.requestSummary) has \(leaf.name): the test may fail after \(leaf.text.string).")
            }
        }
        return warnings
    }
}

/// How a recording is made and compared.
struct RecordingOptions: Sendable {
    var keepsEverything = false
    var names = SecretNames()
    var ignored = SecretNames()
    var isForAnyHost = false
}

extension RecordedExchange {
    /// All that a file has of it, with a name for a sentence.
    fileprivate var places: [(name: String, bytes: [UInt8])] {
        func named(_ fields: [Field], _ message: String) -> [(name: String, bytes: [UInt8])] {
            fields.map { ("the header \($0.name) of the \(message)", Array("\($0.name): \($0.value)".utf8)) }
        }
        return [("the URL", Array(url.utf8)), ("the body of the request", body ?? [])] + named(headers, "request")
            + named(response?.headers ?? [], "response") + [("the body of the response", response?.body ?? [])]
    }

    fileprivate func isSameRequest(as other: RecordedExchange) -> Bool {
        method == other.method && url == other.url && body == other.body && headers == other.headers
    }
}

extension [RecordedExchange] {
    /// The indices in an order in which each two that were in flight together have changed places.
    var swappingInFlight: [Int] {
        var (rest, order): ([Int], [Int]) = (Array<Int>(indices), [])
        while !rest.isEmpty {
            // The last that began before any of the others had ended.
            let firstEnd = rest.map { self[$0].order.end }.min() ?? 0
            let place = rest.lastIndex { self[$0].order.begin <= firstEnd } ?? 0
            order.append(rest.remove(at: place))
        }
        return order
    }
}
