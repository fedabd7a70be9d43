import APIProvider
import APIProviderMocks
import Foundation

extension NewRecording {
    /// - Parameter sent: The exchanges with all headers.
    func findWarnings(_ sent: [RecordedExchange], _ options: RecordingOptions) -> [String] {
        var warnings = unusedNames(options)
        let texts = Set(replacer.secrets.map(\.text))
        let kept = replacer.randomTexts.filter { !texts.isSuperset(of: $0.value) && !replacer.containsSecret($0.key) }.keys.map {
            $0.isEmpty ? "a whole text" : $0
        }.sorted()
        if !kept.isEmpty {
            let more = kept.count > 20 ? " and \(kept.count - 20) more" : ""
            warnings.insert("Kept as they came: \(kept.prefix(20).joined(separator: ", "))\(more). Hide one with hiding: […].", at: 0)
        }
        return warnings + headersToCompare(sent, options) + largeTexts
    }

    /// The texts of more than 1 MB: recording and reviewing them takes long.
    private var largeTexts: [String] {
        replacer.exchanges.flatMap { exchange in
            [exchange.body, exchange.response?.body ?? Data()].filter { $0.count > 1_000_000 && [UInt8]($0).isUTF8 }.map {
                "\(exchange.summary) has a text of \($0.count / 1_000_000) MB. Shorten it with editing: { … }, or ask the server for less."
            }
        }
    }

    /// The differences in headers that are not stored, between equal requests with several responses. Ids and times always differ.
    private func headersToCompare(_ sent: [RecordedExchange], _ options: RecordingOptions) -> [String] {
        let groups = Dictionary(grouping: sent.indices) { replay.entries[$0].request }.values.sorted { $0[0] < $1[0] }
        return groups.compactMap { numbers in
            let exchanges = numbers.map { sent[$0] }, first = exchanges[0].response
            guard exchanges.contains(where: { $0.response?.body != first?.body || $0.response?.statusCode != first?.statusCode }) else {
                return nil
            }
            let names = Set(exchanges.flatMap { $0.headers.map(\.name) }).filter { name in
                let values = exchanges.map { $0.headers[name] ?? "" }
                return !options.stores(header: name) && Set(values).count > 1
                    && !values.contains { $0.looksRandom || $0.isNumber || $0.time != nil }
                    && !["user-agent", "accept-encoding", "date", "content-length"].contains(name.lowercased())
            }.sorted()
            guard !names.isEmpty else { return nil }
            return
                "\(replacer.exchanges[numbers[0]].summary) got several responses with other values of \(names.joined(separator: ", ")), which a "
                + "replay does not compare. To compare them: comparing: [\(names.map { "\"\($0)\"" }.joined(separator: ", "))]"
        }
    }

    /// The test's names without a value.
    private func unusedNames(_ options: RecordingOptions) -> [String] {
        let seen = replacer.seenNames
        let places = Set(options.ignored.isEmpty ? [] : replacer.exchanges.flatMap { options.lines(of: $0).values.keys })
        let unused =
            [("hiding", options.hidden), ("keeping", options.kept)].flatMap { option, names in
                names.filter { name in !seen.contains { $0.isField(name) } }.map { (option, $0) }
            } + options.ignored.filter { name in !places.contains { $0.isPlace(named: name) } }.map { ("ignoring", $0) }
        return unused.map { "\($0): nothing is called \"\($1)\"." }
    }
}
