import APIProvider
import Foundation

extension NewRecording {
    /// What a reader of both files sees.
    struct Comparison {
        /// Whether each request finds an entry of its own in the old file, with the same response.
        var isSame = true
        /// The names of the values that the app has generated, so that a replay will not find them.
        fileprivate var inRequests: Set<String> = []
        /// For each response in which the server has generated new values, and has changed nothing else, their names.
        fileprivate var inResponses: [String] = []

        var warnings: [String] {
            let requests = inRequests.suggestion.map { "Requests differ from the old file only in \(inRequests.quoted). \($0)" }
            let responses =
                inResponses.isEmpty ? nil : "The server generated new values for \(inResponses.prefix(5).joined(separator: "; "))."
            return [requests, responses].compactMap { $0 }
        }
    }

    func comparison(with old: RecordedFile) -> Comparison {
        var comparison = Comparison()
        guard old.entries.count == exchanges.count, !old.isFromOtherProgram, old.test == file.test else {
            comparison.isSame = false
            return comparison
        }
        let names = replacer.placeholders
        let sent = replacer.replayedExchanges
        var replay = Replay(old, hiding: options.names, ignoring: options.ignored, forAnyHost: options.isForAnyHost)
        var renaming = Renaming(names, old.placeholders)
        var found: [Int: Int] = [:]
        for (index, isResponse) in exchanges.events {
            if !isResponse {
                guard let request = renaming.renamed(sent[index]), case .success(let place) = replay.entry(for: request),
                    replay.uses[place] == 1
                else {
                    comparison.isSame = false
                    comparison.inRequests.formUnion(renaming.renamed(sent[index]).map { replay.namesOfGeneratedValues(in: $0) } ?? [])
                    continue
                }
                found[index] = place
            } else if let place = found[index], !renaming.isSame(exchanges[index], old.entries[place].exchange) {
                comparison.isSame = false
                let names = exchanges[index].response?.generatedValues(since: old.entries[place].exchange.response) ?? []
                if !names.isEmpty { comparison.inResponses.append("\(names.quoted) in \(exchanges[index].requestSummary)") }
            }
        }
        if Set(names.origins.values) != Set(old.placeholders.origins.values) || names.origins.count != old.placeholders.origins.count {
            comparison.isSame = false
        }
        return comparison
    }
}

extension RecordedExchange.Response {
    /// The names of the values that look alike in both and are not the same. Empty if anything else differs.
    fileprivate func generatedValues(since old: Self?) -> Set<String> {
        guard let old, old.status == status else { return [] }
        let leaves = [self, old].map { LeafFinder.leaves(ofBody: $0.body, type: $0.value(of: "Content-Type") ?? "") }
        guard leaves[0].count == leaves[1].count else { return [] }
        var names: Set<String> = []
        for (mine, other) in zip(leaves[0], leaves[1]) where mine.text.bytes != other.text.bytes {
            guard mine.name == other.name, !mine.name.isEmpty, mine.text.bytes.mayBothBeGenerated(other.text.bytes) else { return [] }
            names.insert(mine.name)
        }
        return names
    }
}

/// Which placeholders of two files stand for the same.
private struct Renaming {
    let (new, old): (Placeholders, Placeholders)
    private var names: [String: String] = [:]
    private var taken: Set<String> = []

    init(_ new: Placeholders, _ old: Placeholders) { (self.new, self.old) = (new, old) }

    /// A request with the old placeholders; `nil` if it has one that no response has had.
    func renamed(_ exchange: RecordedExchange) -> RecordedExchange? {
        var (exchange, isComplete) = (exchange, true)
        func renamed(_ bytes: [UInt8]) -> [UInt8] {
            bytes.replacing(
                new.occurrences(in: bytes).compactMap { range, name in
                    if names[name] == nil, new.isFromResponse(name) { isComplete = false }
                    return names[name].map { (range.upperBound - name.utf8.count..<range.upperBound, Array($0.utf8)) }
                })
        }
        exchange.url = String(decoding: renamed(Array(exchange.url.utf8)), as: UTF8.self)
        for index in exchange.headers.indices {
            exchange.headers[index].value = String(decoding: renamed(Array(exchange.headers[index].value.utf8)), as: UTF8.self)
        }
        exchange.body = exchange.body.map(renamed)
        return isComplete ? exchange : nil
    }

    mutating func isSame(_ exchange: RecordedExchange, _ other: RecordedExchange) -> Bool {
        guard let mine = exchange.response, let others = other.response else {
            return exchange.response == nil && other.response == nil && exchange.failure == other.failure
        }
        guard mine.status == others.status, exchange.failure == other.failure else { return false }
        for name in ["content-type", "location", "link"] {
            let values = [mine, others].map { Array(($0.value(of: name) ?? "").utf8) }
            guard isSame(values[0], values[1], name == "content-type" ? nil : "") else { return false }
        }
        // Other headers may differ, but a cookie or a token in them has another name in each file.
        for field in mine.headers {
            guard let other = others.value(of: field.name) else { continue }
            let names = [
                new.occurrences(in: Array(field.value.utf8)).map(\.placeholder), old.occurrences(in: Array(other.utf8)).map(\.placeholder),
            ]
            if names[0].count == names[1].count, !isSame(names[0], names[1]) { return false }
        }
        return isSame(mine.body, others.body, mine.value(of: "Content-Type") ?? "")
            && cookies(of: mine).elementsEqual(cookies(of: others))
    }

    private func cookies(of response: RecordedExchange.Response) -> [String] {
        (response.value(of: "Set-Cookie") ?? "").setCookieFields.map { String($0.prefix { $0 != "=" }) }
    }

    /// - Parameter type: Of a body; times beside a secret are not compared in it.
    private mutating func isSame(_ bytes: [UInt8], _ others: [UInt8], _ type: String?) -> Bool {
        for type in [nil, type] {
            let mine = pieces(of: bytes, new, type), theirs = pieces(of: others, old, type)
            if mine.texts == theirs.texts, mine.names.count == theirs.names.count { return isSame(mine.names, theirs.names) }
        }
        return false
    }

    private mutating func isSame(_ mine: [String], _ others: [String]) -> Bool {
        for (name, other) in zip(mine, others) {
            guard new.origins[name] == old.origins[other] else { return false }
            if let known = names[name] {
                guard known == other else { return false }
            } else {
                guard taken.insert(other).inserted else { return false }
                names[name] = other
            }
        }
        return true
    }

    private func pieces(of bytes: [UInt8], _ names: Placeholders, _ type: String?) -> (texts: [[UInt8]], names: [String]) {
        let occurrences = names.occurrences(in: bytes)
        guard !occurrences.isEmpty else { return ([bytes], []) }
        var cuts = occurrences.map { (range: $0.range, name: $0.placeholder as String?) }
        if let type, bytes.mayHaveExpiries {
            let leaves = LeafFinder.leaves(ofBody: bytes, type: type)
            cuts += leaves.expiries(besides: leaves.around(occurrences.map(\.range))).map { ($0.text.range, nil) }
        }
        var (texts, copied): ([[UInt8]], Int) = ([], 0)
        for cut in cuts.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where cut.range.lowerBound >= copied {
            texts.append(Array(bytes[copied..<cut.range.lowerBound]))
            copied = cut.range.upperBound
        }
        return (texts + [Array(bytes[copied...])], occurrences.map(\.placeholder))
    }
}
