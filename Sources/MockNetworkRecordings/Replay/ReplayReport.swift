import APIProvider
import Foundation
import MockNetwork

extension Replay {
    /// The nearest entries and what differs, for a request that none answers. Secrets of the request are shown by their names.
    func report(of exchange: RecordedExchange, _ sent: RequestShape) -> String {
        let shown = RequestShape(
            Naming([exchange], SecretNames(), ignoring: SecretNames()).namedExchanges[0], names, ignoring: ignored,
            forAnyHost: isForAnyHost)
        let near = nearest(to: sent, shown: shown, in: entries).prefix(3)
        guard !near.isEmpty else { return "The recording has no entry that can be read.\(unreadable)" }
        var text = "None of the \(entries.count) entries of the recording answers it. The nearest:"
        if entries.count == 1 { text = "The one entry of the recording does not answer it:" }
        for (entry, differences) in near {
            text += "\n\n    \(entry.exchange.line) (\(entry.place))"
            for difference in differences.list.prefix(4) {
                text += "\n    \(difference.place): expected \(difference.expected), got \(difference.actual)"
            }
        }
        if let cure = near.first.flatMap({ $0.1.namesMadeAnew.cure }) { text += "\n\n\(cure)" }
        return text + unreadable
    }

    /// If a request that no entry answers differs from an unused entry only in values that an app may make anew in each run, their names.
    func namesMadeAnew(in exchange: RecordedExchange) -> Set<String> {
        let sent = RequestShape(exchange, names, ignoring: ignored, forAnyHost: isForAnyHost)
        let unused = entries.indices.filter { uses[$0] == 0 }.map { entries[$0] }
        return nearest(to: sent, shown: sent, in: unused).first?.1.namesMadeAnew ?? []
    }

    private func nearest(to sent: RequestShape, shown: RequestShape, in entries: [Entry]) -> [(Entry, Differences)] {
        entries.filter { $0.problem == nil }.map { ($0, differences(of: $0, from: sent, shown: shown)) }
            .enumerated().sorted { ($0.element.1.distance, $0.offset) < ($1.element.1.distance, $1.offset) }.map(\.element)
    }

    private var unreadable: String {
        let unreadable = entries.filter { $0.problem != nil }
        guard let first = unreadable.first else { return "" }
        return "\n\n\(unreadable.count) of them cannot be read. The first is \(first.place): \(first.problem ?? "")"
    }

    // MARK: - Differences

    private struct Difference {
        let place: String
        /// Of the query item, member, field or header.
        let name: String
        let expected: String
        let actual: String
        /// Whether both may be made anew in each run.
        var isAlike = false
    }

    private struct Differences {
        var list: [Difference] = []
        var distance = 0.0

        var namesMadeAnew: Set<String> { list.allSatisfy(\.isAlike) ? Set(list.map(\.name)) : [] }
    }

    private func differences(of entry: Entry, from sent: RequestShape, shown: RequestShape) -> Differences {
        var found = Differences()
        let mine = entry.shape
        func add(_ place: String, _ name: String, _ expected: Pattern?, _ actual: Pattern?, _ shownActual: Pattern?) {
            let isMissing = expected?.hasNames == true && actual?.bytes.isEmpty != false
            let isAlike = !name.isEmpty && expected.map { e in actual.map { a in e.bytes.isAlike(a.bytes) } ?? false } ?? false
            found.list.append(
                Difference(
                    place: place, name: name, expected: expected.map(\.string.quoted) ?? "none",
                    actual: isMissing ? "nothing, where a secret is expected" : shownActual.map(\.string.quoted) ?? "none", isAlike: isAlike
                ))
            found.distance += 1
        }
        func fits(_ expected: Pattern, _ actual: Pattern) -> Bool {
            var attempt = bindings
            return expected.matches(actual, names, &attempt)
        }
        if mine.method != sent.method {
            let methods = [mine, sent].map { Pattern($0.method, names) }
            add("method", "", methods[0], methods[1], methods[1])
        }
        if let origin = mine.origin, origin != sent.origin {
            let other = Pattern(sent.origin ?? "none", names)
            add("host", "", Pattern(origin, names), other, other)
        }
        if mine.path.count != sent.path.count || !zip(mine.path, sent.path).allSatisfy({ fits($0, $1) }) {
            let paths = [mine, sent, shown].map { shape in Pattern(shape.path.map(\.string).path, names) }
            add("path", "", paths[0], paths[1], paths[2])
            found.distance += 2 - 2 * Double(zip(mine.path, sent.path).prefix { fits($0, $1) }.count) / Double(max(mine.path.count, 1))
        }
        compare(mine.query, sent.query, shown.query, "query", fits, add)
        for name in entry.significantHeaders {
            let (value, other) = (mine.value(of: name), sent.value(of: name))
            guard value != nil || other != nil else { continue }
            if let value, let other, fits(value, other) { continue }
            add("header \(name)", name, value, other, shown.value(of: name))
        }
        var attempt = bindings
        if !mine.body.matches(sent.body, names, &attempt) { compare(mine.body, sent.body, shown.body, fits, add) }
        return found
    }

    // MARK: - Comparing the parts

    private typealias Add = (_ place: String, _ name: String, _ expected: Pattern?, _ actual: Pattern?, _ shown: Pattern?) -> Void

    private func compare(
        _ mine: [RequestShape.Item], _ sent: [RequestShape.Item], _ shown: [RequestShape.Item], _ place: String,
        _ fits: (Pattern, Pattern) -> Bool, _ add: Add
    ) {
        let keys = (mine + sent).map(\.name.string).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        for key in keys {
            let lists = [mine, sent, shown].map { items in items.filter { $0.name.string == key }.map(\.value) }
            for index in 0..<max(lists[0].count, lists[1].count) {
                let (value, other) = (lists[0].dropFirst(index).first, lists[1].dropFirst(index).first)
                if let value, let other, fits(value, other) { continue }
                add("\(place) \(key)", key, value, other, lists[2].dropFirst(index).first)
            }
        }
    }

    private func compare(
        _ mine: RequestShape.Body, _ sent: RequestShape.Body, _ shown: RequestShape.Body, _ fits: (Pattern, Pattern) -> Bool, _ add: Add
    ) {
        func text(_ body: RequestShape.Body) -> Pattern {
            let description =
                switch body {
                case .unknown: "a body that was not saved"
                case .json: "JSON"
                case .form(let items): "a form of \(items.count) fields"
                case .parts(let parts): "\(parts.count) parts"
                case .text(let pattern): pattern.string
                case .bytes(let bytes): bytes.isEmpty ? "no body" : "\(bytes.count) bytes"
                }
            return Pattern(description, names)
        }
        switch (mine, sent, shown) {
        case (.json(let mine), .json(let sent), .json(let shown)): compare(mine, sent, shown, "", "body", fits, add)
        case (.form(let mine), .form(let sent), .form(let shown)): compare(mine, sent, shown, "field", fits, add)
        case (.parts(let mine), .parts(let sent), .parts(let shown)) where mine.count == sent.count && mine.count == shown.count:
            for index in mine.indices {
                if !fits(mine[index].head, sent[index].head) {
                    add("the head of part \(index)", "", mine[index].head, sent[index].head, shown[index].head)
                }
                var attempt = bindings
                guard !mine[index].body.matches(sent[index].body, names, &attempt) else { continue }
                compare(mine[index].body, sent[index].body, shown[index].body, fits, add)
            }
        default: add("body", "", text(mine), text(sent), text(shown))
        }
    }

    private func compare(
        _ mine: RequestShape.Value?, _ sent: RequestShape.Value?, _ shown: RequestShape.Value?, _ name: String, _ place: String,
        _ fits: (Pattern, Pattern) -> Bool, _ add: Add
    ) {
        var attempt = bindings
        if let mine, let sent, mine.matches(sent, names, &attempt) { return }
        switch (mine, sent) {
        case (.object(let members)?, .object(let others)?):
            let shownMembers = if case .object(let members)? = shown { members } else { [RequestShape.Member]() }
            for key in Set((members + others).map(\.name.string)).sorted() {
                let values = [members, others, shownMembers].map { list in list.first { $0.name.string == key }?.value }
                if values[0] == nil, members.contains(where: \.name.hasNames) { continue }
                compare(values[0], values[1], values[2], key, place == "body" ? key : "\(place).\(key)", fits, add)
            }
        case (.array(let elements)?, .array(let others)?) where elements.count == others.count:
            let shownElements = if case .array(let elements)? = shown { elements } else { others }
            for index in elements.indices {
                compare(elements[index], others[index], shownElements.dropFirst(index).first, name, "\(place)[\(index)]", fits, add)
            }
        default:
            add(
                place, name, mine.map { Pattern($0.text, names) }, sent.map { Pattern($0.text, names) },
                shown.map { Pattern($0.text, names) })
        }
    }
}

// MARK: - Text

extension RequestShape.Value {
    fileprivate var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let number): number.text
        case .string(let pattern): pattern.string
        case .array(let elements): "an array of \(elements.count)"
        case .object: "an object"
        }
    }
}

extension String {
    fileprivate var quoted: String { "\"\(count > 80 ? "\(prefix(80))…" : self)\"" }
}

extension Set<String> {
    /// What to do about values of these names.
    var cure: String? { isEmpty ? nil : "If the app makes these anew in each run, record again with ignoring: [\(quoted)]." }

    var quoted: String { sorted().map { "\"\($0)\"" }.joined(separator: ", ") }
}

extension [UInt8] {
    /// Whether a program may make both anew in each run: numbers, UUIDs, or words of one length.
    func isAlike(_ other: [UInt8]) -> Bool {
        guard !isEmpty, !other.isEmpty else { return false }
        if allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }), other.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }) {
            return true
        }
        return count == other.count && count >= 6 && !contains(0x20)
    }
}
