import APIProvider
import Foundation
import MockNetwork

extension Recording {
    /// What the server answers otherwise than it did: the requests that are new or gone, statuses, media types, and the lines of responses
    /// whose kind is another. Other values and more members are no change.
    func changes(of exchanges: [RecordedExchange], since old: RecordedFile) -> [String] {
        let new = newRecording(of: exchanges, test: "").replay
        var olds = Dictionary(grouping: old.entries.map(\.exchange).reversed()) { Request($0, old.placeholders, comparison) }
        var changes: [String] = []
        for exchange in new.entries.map(\.exchange) {
            if let recorded = olds[Request(exchange, new.placeholders, comparison)]?.popLast() {
                changes += recorded.changes(in: exchange).map { "\(exchange.summary): \($0)" }
            } else {
                changes.append("\(exchange.summary): it was not sent")
            }
        }
        return changes + olds.values.flatMap { $0 }.map { "\($0.summary): it is no longer sent" }.sorted()
    }

    /// A request whose placeholders have no numbers.
    private struct Request: Hashable {
        let lines: [String]

        init(_ exchange: RecordedExchange, _ placeholders: Placeholders, _ comparison: Comparison) {
            lines = comparison.request(exchange, placeholders).lines.values.flatMap { place, values in
                values.map { value in
                    let text = value.text ?? value.description
                    let edits = placeholders.occurrences(in: text).map { ($0.range, Array("…".utf8)) }
                    return "\(place): \(Array(text.utf8).applying(edits).text)"
                }
            }.sorted()
        }
    }
}

extension RecordedExchange {
    fileprivate func changes(in other: RecordedExchange) -> [String] {
        guard let mine = response, let theirs = other.response else {
            return (response == nil) == (other.response == nil) ? [] : ["it \(response == nil ? "had no response" : "has no response")"]
        }
        guard mine.statusCode == theirs.statusCode else { return ["the status was \(mine.statusCode), is \(theirs.statusCode)"] }
        let types = [mine, theirs].map { $0.type.mediaType.isEmpty ? "missing" : $0.type.mediaType }
        guard types[0] == types[1] else { return ["the media type was \(types[0]), is \(types[1])"] }
        let (old, new) = (mine.kinds, theirs.kinds)
        return old.keys.sorted().compactMap { place in
            let gone = new[place] == nil && new.keys.contains { $0 == place.parent || $0.hasPrefix("\(place.parent).") }
            guard let kinds = new[place] ?? (gone ? ["gone"] : nil), let was = old[place], !kinds.isSubset(of: was) else { return nil }
            return "\(place) was \(was.sorted().joined(separator: " or ")), is \(kinds.subtracting(was).sorted().joined(separator: " or "))"
        }
    }
}

extension RecordedExchange.Response {
    /// The kinds of the values at each general place of the body.
    fileprivate var kinds: [String: Set<String>] {
        var lines = Lines(body: body, type: type)
        if type.mediaType.isStreamOfLines {
            lines = Lines()
            for line in [UInt8](body).split(separator: 0x0A) {
                let text = line.starts(with: "data:".utf8) ? line.dropFirst(5) : line
                lines.add(Lines(json: Data(text)) ?? Lines(), within: Place("[0]"))
            }
        }
        return lines.values.reduce(into: [:]) { kinds, line in
            kinds["body\(line.key.text.hasPrefix("[") || line.key.text.isEmpty ? "" : ".")\(line.key.general)", default: []].formUnion(line.value.map(\.kind))
        }
    }
}

extension Lines.Value {
    fileprivate var kind: String {
        switch content {
        case .text: "a text"
        case .number: "a number"
        case .literal(let text): text == "null" ? "null" : "a Boolean"
        case .object: "an object"
        case .array: "an array"
        case .bytes: "binary"
        }
    }
}

extension String {
    /// The place that this one is within.
    fileprivate var parent: String { String(self[..<(lastIndex { ".[".contains($0) } ?? startIndex)]) }
}
