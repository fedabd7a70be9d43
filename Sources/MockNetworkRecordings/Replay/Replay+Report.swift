import APIProvider
import Foundation
import MockNetwork

extension Replay {
    /// The nearest entries and what differs, for a request that none answers. Secrets of the request are shown by their names.
    func report(of exchange: RecordedExchange, _ sent: RequestShape) -> String {
        let shown = RequestShape(
            SecretReplacer([exchange], hidden, ignoring: SecretNames(), reservedPlaceholders: Set(placeholders.origins.keys))
                .redactedExchanges[0], placeholders,
            ignoring: ignored, forAnyHost: isForAnyHost)
        let near = nearest(to: sent, shown: shown, in: entries).prefix(3)
        guard !near.isEmpty else { return "The recording has no entry that can be read.\(unreadable)" }
        var text = "None of the \(entries.count) entries of the recording answers it. The nearest:"
        if entries.count == 1 { text = "The one entry of the recording does not answer it:" }
        for (entry, differences) in near {
            text += "\n\n    \(entry.exchange.line) (\(entry.place))"
            for difference in differences.list.prefix(4) { text += "\n    \(difference.description)" }
            if let conflict = differences.conflict { text += "\n    \(conflict): expected one secret wherever it stands, got several" }
        }
        if let suggestion = near.first?.1.suggestion { text += "\n\n\(suggestion)" }
        return text + unreadable
    }

    /// The names of the values in which a request differs from the nearest unused entry. Empty if it also differs in what an app does not
    /// generate in each run.
    func namesOfGeneratedValues(in exchange: RecordedExchange) -> Set<String> {
        let sent = RequestShape(exchange, placeholders, ignoring: ignored, forAnyHost: isForAnyHost)
        let unused = entries.indices.filter { uses[$0] == 0 }.map { entries[$0] }
        return nearest(to: sent, shown: sent, in: unused).first?.1.namesOfGeneratedValues ?? []
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

    /// A value of an entry or of a request, as the report shows it.
    private struct Shown {
        let pattern: Pattern
        /// Whether it is a text, and is shown in quotes. A number is not: `"1"` and `1` differ.
        let isText: Bool

        init(_ pattern: Pattern, isText: Bool = true) { (self.pattern, self.isText) = (pattern, isText) }
    }

    private struct Difference: CustomStringConvertible {
        let place: String
        /// Of the query item, member, field or header.
        let name: String
        let expected: Shown?
        let actual: Shown?
        /// Whether each run may generate such a value.
        let isAlike: Bool

        var description: String {
            let isMissing = expected?.pattern.hasNames == true && actual?.pattern.bytes.isEmpty != false
            let texts = [expected, actual].map { $0?.pattern.string }
            let start = texts[0].flatMap { first in texts[1].map { first.startOfExcerpt(comparedWith: $0) } } ?? 0
            func shown(_ side: Shown?) -> String {
                guard let side else { return "none" }
                return side.isText ? side.pattern.string.excerpt(from: start) : side.pattern.string
            }
            return "\(place): expected \(shown(expected)), got \(isMissing ? "nothing, where a secret is expected" : shown(actual))"
        }
    }

    private struct Differences {
        var list: [Difference] = []
        var distance = 0.0
        /// If each value fits, the placeholder that would stand for several texts.
        var conflict: String?

        var namesOfGeneratedValues: Set<String> { list.allSatisfy(\.isAlike) ? Set(list.map(\.name)) : [] }

        /// What to do, if that is known.
        var suggestion: String? {
            let isOtherHost = !list.isEmpty && list.allSatisfy { $0.place == "host" }
            return isOtherHost ? "To answer the requests to any host, pass forAnyHost: true." : namesOfGeneratedValues.suggestion
        }
    }

    private func differences(of entry: Entry, from sent: RequestShape, shown: RequestShape) -> Differences {
        var found = Differences()
        let recorded = entry.shape
        func add(_ place: String, _ name: String, _ expected: Shown?, _ actual: Shown?, _ shownActual: Shown?) {
            let isAlike =
                if let expected, let actual, !name.isEmpty, expected.isText == actual.isText {
                    expected.pattern.bytes.isAlike(actual.pattern.bytes)
                } else {
                    false
                }
            found.list.append(Difference(place: place, name: name, expected: expected, actual: shownActual, isAlike: isAlike))
            found.distance += 1
        }
        func fits(_ expected: Pattern, _ actual: Pattern) -> Bool {
            var attempt = bindings
            return expected.matches(actual, placeholders, &attempt)
        }
        if recorded.method != sent.method {
            let methods = [recorded, sent].map { Shown(Pattern($0.method, placeholders)) }
            add("method", "", methods[0], methods[1], methods[1])
        }
        if let origin = recorded.origin, origin != sent.origin {
            let other = Shown(Pattern(sent.origin ?? "none", placeholders))
            add("host", "", Shown(Pattern(origin, placeholders)), other, other)
        }
        if recorded.path.count != sent.path.count || !zip(recorded.path, sent.path).allSatisfy({ fits($0, $1) }) {
            let paths = [recorded, sent, shown].map { shape in Shown(Pattern(shape.path.map(\.string).path, placeholders)) }
            add("path", "", paths[0], paths[1], paths[2])
            found.distance +=
                2 - 2 * Double(zip(recorded.path, sent.path).prefix { fits($0, $1) }.count) / Double(max(recorded.path.count, 1))
        }
        compare(recorded.query, sent.query, shown.query, "query", fits, add)
        for name in entry.significantHeaders {
            let (value, other) = (recorded.value(of: name), sent.value(of: name))
            guard value != nil || other != nil else { continue }
            if let value, let other, fits(value, other) { continue }
            add("header \(name)", name, value.map { Shown($0) }, other.map { Shown($0) }, shown.value(of: name).map { Shown($0) })
        }
        var attempt = bindings
        if !recorded.body.matches(sent.body, placeholders, &attempt) { compare(recorded.body, sent.body, shown.body, fits, add) }
        if found.list.isEmpty {
            attempt = bindings
            _ = recorded.matches(sent, placeholders, &attempt)
            found.conflict = attempt.conflict
        }
        return found
    }

    // MARK: - Comparing the parts

    private typealias Add = (_ place: String, _ name: String, _ expected: Shown?, _ actual: Shown?, _ shown: Shown?) -> Void

    private func compare(
        _ recorded: [RequestShape.Item], _ sent: [RequestShape.Item], _ shown: [RequestShape.Item], _ place: String,
        _ fits: (Pattern, Pattern) -> Bool, _ add: Add
    ) {
        let keys = (recorded + sent).map(\.name.string).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        for key in keys {
            let lists = [recorded, sent, shown].map { items in items.filter { $0.name.string == key }.map(\.value) }
            for index in 0..<max(lists[0].count, lists[1].count) {
                let (value, other) = (lists[0].dropFirst(index).first, lists[1].dropFirst(index).first)
                if let value, let other, fits(value, other) { continue }
                let shownOther = lists[2].dropFirst(index).first.map { Shown($0) }
                add("\(place) \(key)", key, value.map { Shown($0) }, other.map { Shown($0) }, shownOther)
            }
        }
    }

    private func compare(
        _ recorded: RequestShape.Body, _ sent: RequestShape.Body, _ shown: RequestShape.Body, _ fits: (Pattern, Pattern) -> Bool, _ add: Add
    ) {
        func text(_ body: RequestShape.Body) -> Shown {
            let description =
                switch body {
                case .unknown: "a body that was not saved"
                case .json: "JSON"
                case .form(let items): "a form of \(items.count) fields"
                case .parts(let parts): "\(parts.count) parts"
                case .text(let pattern): pattern.string
                case .bytes(let bytes): bytes.isEmpty ? "no body" : "\(bytes.count) bytes"
                }
            return Shown(Pattern(description, placeholders), isText: body.isText)
        }
        switch (recorded, sent, shown) {
        case (.json(let recorded), .json(let sent), .json(let shown)): compare(recorded, sent, shown, "", "body", fits, add)
        case (.form(let recorded), .form(let sent), .form(let shown)): compare(recorded, sent, shown, "field", fits, add)
        case (.parts(let recorded), .parts(let sent), .parts(let shown))
        where recorded.count == sent.count && recorded.count == shown.count:
            for index in recorded.indices {
                if !fits(recorded[index].head, sent[index].head) {
                    add("the head of part \(index)", "", Shown(recorded[index].head), Shown(sent[index].head), Shown(shown[index].head))
                }
                var attempt = bindings
                guard !recorded[index].body.matches(sent[index].body, placeholders, &attempt) else { continue }
                compare(recorded[index].body, sent[index].body, shown[index].body, fits, add)
            }
        default: add("body", "", text(recorded), text(sent), text(shown))
        }
    }

    private func compare(
        _ recorded: RequestShape.Value?, _ sent: RequestShape.Value?, _ shown: RequestShape.Value?, _ name: String, _ place: String,
        _ fits: (Pattern, Pattern) -> Bool, _ add: Add
    ) {
        var attempt = bindings
        if let recorded, let sent, recorded.matches(sent, placeholders, &attempt) { return }
        switch (recorded, sent) {
        case (.object(let members)?, .object(let others)?):
            let shownMembers = if case .object(let members)? = shown { members } else { [RequestShape.Member]() }
            for key in Set((members + others).map(\.name.string)).sorted() {
                let values = [members, others, shownMembers].map { list in list.first { $0.name.string == key }?.value }
                if values[0] == nil, members.contains(where: \.name.hasNames) { continue }
                if values[1] != nil, values[2] == nil {
                    // The key is a secret, so it has another name here.
                    add("\(place == "body" ? "" : "\(place).")…", "", nil, nil, Shown(Pattern("a value", placeholders), isText: false))
                    continue
                }
                compare(values[0], values[1], values[2], key, place == "body" ? key : "\(place).\(key)", fits, add)
            }
        case (.array(let elements)?, .array(let others)?) where elements.count == others.count:
            let shownElements = if case .array(let elements)? = shown { elements } else { [RequestShape.Value]() }
            for index in elements.indices {
                compare(elements[index], others[index], shownElements.dropFirst(index).first, name, "\(place)[\(index)]", fits, add)
            }
        default:
            add(
                place, name, recorded.map { Shown(Pattern($0.text, placeholders), isText: $0.isString) },
                sent.map { Shown(Pattern($0.text, placeholders), isText: $0.isString) },
                shown.map { Shown(Pattern($0.text, placeholders), isText: $0.isString) })
        }
    }
}

// MARK: - Text

extension RequestShape.Body {
    fileprivate var isText: Bool { if case .text = self { true } else { false } }
}

extension RequestShape.Value {
    fileprivate var isString: Bool { if case .string = self { true } else { false } }

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
    /// The place from which to show both texts, so that the first 80 characters have the first difference.
    fileprivate func startOfExcerpt(comparedWith other: String) -> Int {
        let place = zip(self, other).prefix { $0 == $1 }.count
        return max(count, other.count) <= 80 || place < 60 || self == other ? 0 : place - 30
    }

    /// 80 characters, in quotes.
    fileprivate func excerpt(from start: Int) -> String {
        let rest = dropFirst(start)
        return ((start > 0 ? "…" : "") + rest.prefix(80) + (rest.count > 80 ? "…" : "")).debugDescription
    }
}

extension Set<String> {
    /// What to do about values of these names.
    var suggestion: String? { isEmpty ? nil : "If the app generates these values in each run, record again with ignoring: [\(quoted)]." }

    var quoted: String { sorted().map { "\"\($0)\"" }.joined(separator: ", ") }
}

extension [UInt8] {
    /// Whether a program may generate both in each run: numbers, UUIDs, or words of one length.
    func isAlike(_ other: [UInt8]) -> Bool {
        guard !isEmpty, !other.isEmpty else { return false }
        if allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }), other.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }) {
            return true
        }
        return count == other.count && count >= 6 && !contains(0x20)
    }
}
