import APIProvider
import Foundation
import MockNetwork

extension NewRecording {
    /// Sentences for somebody who commits the file.
    ///
    /// - Parameter sent: The exchanges with all their headers.
    func findWarnings(_ sent: [RecordedExchange], _ comparison: Comparison) -> [String] {
        var warnings: [String] = []
        if !replacer.keptNames.isEmpty {
            let names = replacer.keptNames
            let more = names.count > 20 ? " and \(names.count - 20) more" : ""
            warnings.append("Kept as they came: \(names.prefix(20).joined(separator: ", "))\(more). Hide one with hiding: […].")
        }
        warnings += replacer.clearPlaces.prefix(5)
        warnings += unusedNames(comparison)
        warnings += sameLines { numbers in
            let names = tellingHeaders(numbers.map { sent[$0] }, comparison)
            return names.isEmpty
                ? nil
                : "\(sent[numbers[0]].summary) got several responses with other values of \(names.joined(separator: ", ")), which a replay does "
                    + "not compare. To compare them: comparing: [\(names.map { "\"\($0)\"" }.joined(separator: ", "))]"
        }
        warnings += replay.requestsToldApartByOrder.prefix(5).map { "\($0) was sent with several secrets, which are told apart by their order." }
        for exchange in replacer.exchanges {
            guard let body = exchange.response?.body, body.count >= 1 << 20, ![UInt8](body).isUTF8 else { continue }
            warnings.append("\(exchange.summary) has a binary body of \(body.count >> 20) MB.")
        }
        return warnings + replacer.expiryWarnings
    }

    /// What `warning` says of each group of entries whose lines and cookies are equal, and whose responses are not.
    private func sameLines(_ warning: ([Int]) -> String?) -> [String] {
        let groups = Dictionary(grouping: replay.entries.indices) { replay.entries[$0].request }
        return groups.values.filter { numbers in
            let responses = numbers.map { replay.entries[$0].exchange.response }
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
    private func unusedNames(_ comparison: Comparison) -> [String] {
        let seen = replacer.seenNames
        let everything = Comparison(comparison.names)
        let places = Set(
            comparison.ignored.isEmpty
                ? [] : replacer.exchanges.flatMap { everything.request($0, replay.placeholders).texts.map(\.place) })
        let options: [(String, [String], (String) -> Bool)] = [
            ("hiding", comparison.names.hidden.names.sorted(), { name in seen.contains { $0 == name || $0.isField(name) } }),
            ("keeping", comparison.names.kept.names.sorted(), { name in seen.contains { $0 == name || $0.isField(name) } }),
            ("ignoring", comparison.ignored, { name in places.contains { $0.isNamed(name) } }),
        ]
        return options.flatMap { option, names, isUsed in
            names.filter { !isUsed($0) }.map { name in
                let candidates = option == "ignoring" ? Set(places.map { $0.value("").name }) : seen
                let near = candidates.filter { !$0.isEmpty && $0.distance(from: name) <= max(2, name.utf8.count * 2 / 3) }
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
