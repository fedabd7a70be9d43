import APIProvider
import APIProviderMocks
import Foundation

extension NewRecording {
    /// Sentences for somebody who commits the file.
    ///
    /// - Parameter sent: The exchanges with all their headers.
    func findWarnings(_ sent: [RecordedExchange], _ comparison: Comparison) -> [String] {
        var warnings = unusedNames(sent, comparison) + standingElsewhere.prefix(5)
        let texts = Set(replacer.secrets.map(\.text))
        let kept = replacer.finder.randomTexts.filter { !texts.isSuperset(of: $0.value) && !replacer.holdsSecret($0.key) }.keys.map {
            $0.isEmpty ? "a whole text" : $0
        }.sorted()
        if !kept.isEmpty {
            let more = kept.count > 20 ? " and \(kept.count - 20) more" : ""
            warnings.insert("Kept as they came: \(kept.prefix(20).joined(separator: ", "))\(more). Hide one with hiding: […].", at: 0)
        }
        warnings += sameLines { numbers in
            let names = tellingHeaders(numbers.map { sent[$0] }, comparison)
            return names.isEmpty
                ? nil
                : "\(replacer.exchanges[numbers[0]].summary) got several responses with other values of \(names.joined(separator: ", ")), which a replay does "
                    + "not compare. To compare them: comparing: [\(names.map { "\"\($0)\"" }.joined(separator: ", "))]"
        }
        warnings += replay.requestsToldApartByOrder.prefix(5).map {
            "\($0) was sent with several secrets, which are told apart by their order."
        }
        return warnings
            + replacer.finder.expiries.sorted { $0.key < $1.key }.map { name, end in
                "\(replacer.exchanges[end.exchange].summary) has \(name): the test may fail after \(end.text)."
            }
    }

    /// Where secrets that are replaced only under their names still stand, the longest first.
    private var standingElsewhere: [String] {
        let all = replacer.secrets.filter { $0.isCommon && $0.text.utf8.count >= 4 }
        let common = all.sorted { $0.text.utf8.count > $1.text.utf8.count }.prefix(50)
        return common.compactMap { secret in
            let exchange = replacer.exchanges.first { exchange in
                [false, true].contains { Message(exchange, isResponse: $0).bytes.contains(secret.text) }
            }
            return exchange.map {
                "\(secret.placeholder) is too short or too common to be replaced everywhere. It also stands in \($0.summary)."
            }
        }
    }

    /// What `warning` says of each group of entries whose lines and cookies are equal, and whose responses are not.
    private func sameLines(_ warning: ([Int]) -> String?) -> [String] {
        let groups = Dictionary(grouping: replay.file.entries.indices) { replay.file.entries[$0].request }
        return groups.values.filter { numbers in
            let responses = numbers.map { replay.file.entries[$0].exchange.response }
            return responses.contains { $0?.body != responses[0]?.body || $0?.statusCode != responses[0]?.statusCode }
        }.sorted { $0[0] < $1[0] }.compactMap(warning)
    }

    /// The headers, none of which is stored, in which requests differ. Ids of requests and times differ in each.
    private func tellingHeaders(_ exchanges: [RecordedExchange], _ comparison: Comparison) -> [String] {
        let names = Set(exchanges.flatMap { $0.headers.map(\.name) }).filter { !comparison.stores(header: $0) }
        return names.filter { name in
            let values = exchanges.map { $0.headers[name] ?? "" }
            return Set(values).count > 1 && !values.contains { $0.looksRandom || $0.isNumber || $0.time != nil }
                && !["user-agent", "accept-encoding", "date", "content-length"].contains(name.lowercased())
        }.sorted()
    }

    /// The names that the test gives and nothing has.
    private func unusedNames(_ sent: [RecordedExchange], _ comparison: Comparison) -> [String] {
        let seen = Set(replacer.finder.seenNames.keys)
        let everything = Comparison(comparison.names, comparing: comparison.compared).varying(with: sent)
        let places = Set(comparison.ignored.isEmpty ? [] : replacer.exchanges.flatMap { everything.lines(of: $0).values.keys })
        let options: [(String, [String], (String) -> Bool)] = [
            ("hiding", comparison.names.hidden.names.sorted(), { name in seen.contains { $0 == name || $0.isField(name) } }),
            ("keeping", comparison.names.kept.names.sorted(), { name in seen.contains { $0 == name || $0.isField(name) } }),
            ("ignoring", comparison.ignored, { name in places.contains { $0.isPlace(named: name) } }),
        ]
        return options.flatMap { option, names, isUsed in
            names.filter { !isUsed($0) }.map { name in
                let candidates = option == "ignoring" ? Set(places.compactMap(\.startAndNames.names.last)) : seen
                let near = candidates.filter {
                    !$0.isEmpty && !replacer.holdsSecret($0) && $0.distance(from: name) <= max(2, name.utf8.count * 2 / 3)
                }
                let nearest = near.min { ($0.distance(from: name), $0) < ($1.distance(from: name), $1) }
                return "\(option): nothing is called \"\(name)\".\(nearest.map { " The nearest is \"\($0)\"." } ?? "")"
            }
        }
    }
}

extension String {
    /// How many letters differ.
    fileprivate func distance(from other: String) -> Int { Array(lowercased().utf8).difference(from: Array(other.lowercased().utf8)).count }
}
