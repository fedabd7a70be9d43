import APIProvider
import APIProviderMocks
import Foundation

extension Recording {
    /// Throws an error for a server with other answers: new and missing requests, other statuses and media types, and lines of another kind.
    /// Other values and more members are no change.
    func check(_ exchanges: [RecordedExchange], against old: Replay, _ command: String) throws {
        let new = newRecording(of: exchanges, test: "").replay
        var replay = old
        let changes = new.entries.flatMap { entry in
            let recorded = try? replay.entry(for: new.placeholders.withOtherSecrets(entry.exchange)).get()
            let found = recorded.map { old.entries[$0].exchange.changes(in: entry.exchange) } ?? ["it is new"]
            return found.map { "\(entry.exchange.summary): \($0)" }
        }
        let lines = changes + replay.unused.map { "\($0.exchange.summary): it is gone" }
        guard !lines.isEmpty else { return }
        throw MockFailure(
            "The server no longer answers as \(file.lastPathComponent) says:\n\(lines.joined(separator: "\n"))\nTo take its answers, record "
                + "again: \(command)")
    }
}

extension RecordedExchange {
    fileprivate func changes(in other: RecordedExchange) -> [String] {
        let statuses = [response, other.response].map { $0.map { "\($0.statusCode)" } ?? "missing" }
        guard statuses[0] == statuses[1] else { return ["the status was \(statuses[0]), is \(statuses[1])"] }
        let types = [response, other.response].map { $0?.type.mediaType ?? "" }.map { $0.isEmpty ? "missing" : $0 }
        guard types[0] == types[1] else { return ["the media type was \(types[0]), is \(types[1])"] }
        let (old, new) = (response?.kinds ?? [:], other.response?.kinds ?? [:])
        return old.sorted { $0.key < $1.key }.compactMap { place, was in
            // An empty array may get elements again.
            let parent = String(place[..<(place.lastIndex { ".[".contains($0) } ?? place.startIndex)])
            guard let kinds = new[place] ?? (new[parent] == nil || place.hasSuffix("[]") ? nil : ["gone"]), !kinds.isSubset(of: was) else {
                return nil
            }
            return "\(place) was \(was.sorted().joined(separator: " or ")), is \(kinds.subtracting(was).sorted().joined(separator: " or "))"
        }
    }
}

extension RecordedExchange.Response {
    /// The values' kinds at each general place of the body.
    fileprivate var kinds: [String: Set<String>] {
        Lines(body: body, streaming: type).values.reduce(into: [:]) {
            $0["body".appending($1.key.general), default: []].formUnion($1.value.map(\.name))
        }
    }
}

extension Lines.Value {
    /// The kind in a sentence.
    fileprivate var name: String {
        switch kind {
        case .text: "a text"
        case .number: "a number"
        case .literal: text == "null" ? "null" : "a Boolean"
        case .object: "an object"
        case .array: "an array"
        case .bytes: "binary"
        }
    }
}
