import APIProviderMocks

/// A part of an entry and of a request, and the part of the request as a report shows it.
struct Sides<Part> {
    let recorded: Part
    let sent: Part
    /// Without secrets.
    let shown: Part

    func map<Other>(_ transform: (Part) -> Other) -> Sides<Other> {
        Sides<Other>(recorded: transform(recorded), sent: transform(sent), shown: transform(shown))
    }
}

/// Where a request differs from an entry that does not answer it.
struct Differences {
    /// A value, as the report shows it.
    struct Shown {
        let pattern: Pattern
        /// Whether it is a text, and is shown in quotes. A number is not: `"1"` and `1` differ.
        var isText = true
    }

    struct Difference: CustomStringConvertible {
        let place: String
        /// Of the query item, member, field or header.
        let name: String
        let expected: Shown?
        let actual: Shown?
        /// Whether each run may generate such a value.
        let mayBothBeGenerated: Bool

        var description: String {
            let isMissing = expected?.pattern.hasPlaceholders == true && actual?.pattern.bytes.isEmpty != false
            let texts = [expected, actual].map { $0?.pattern.string }
            let start = texts[0].flatMap { first in texts[1].map { first.startOfExcerpt(comparedWith: $0) } } ?? 0
            func shown(_ side: Shown?) -> String {
                guard let side else { return "none" }
                return side.isText ? side.pattern.string.excerpt(from: start) : side.pattern.string
            }
            return "\(place): expected \(shown(expected)), got \(isMissing ? "nothing, where a secret is expected" : shown(actual))"
        }
    }

    fileprivate(set) var list: [Difference] = []
    fileprivate(set) var distance = 0.0
    /// If each value fits, the placeholder that would stand for several texts.
    fileprivate(set) var conflict: String?

    /// The names of the values that differ, if each run may generate them all.
    var namesOfGeneratedValues: Set<String> { list.allSatisfy(\.mayBothBeGenerated) ? Set(list.map(\.name)) : [] }

    /// What to do, if that is known.
    var suggestion: String? {
        let isOtherHost = !list.isEmpty && list.allSatisfy { $0.place == "host" }
        return isOtherHost ? "To answer the requests to any host, pass forAnyHost: true." : namesOfGeneratedValues.suggestion
    }
}

/// Finds where a request differs from an entry.
struct DifferenceFinder {
    private let placeholders: Placeholders
    private let bindings: Bindings
    private(set) var differences = Differences()

    init(_ placeholders: Placeholders, _ bindings: Bindings) { (self.placeholders, self.bindings) = (placeholders, bindings) }

    mutating func compare(_ shapes: Sides<NormalizedRequest>, _ significantHeaders: [String]) {
        let (recorded, sent) = (shapes.recorded, shapes.sent)
        if recorded.method != sent.method { add("method", shapes.map { shown($0.method) }) }
        if recorded.origin != nil, recorded.origin != sent.origin { add("host", shapes.map { shown($0.origin ?? "none") }) }
        let sameSegments = zip(recorded.path, sent.path).prefix { fits($0, $1) }.count
        if recorded.path.count != sent.path.count || sameSegments < recorded.path.count {
            add("path", shapes.map { shown($0.path.map(\.string).path) })
            differences.distance += 2 - 2 * Double(sameSegments) / Double(max(recorded.path.count, 1))
        }
        compare(shapes.map(\.query), "query")
        for name in significantHeaders {
            let values = shapes.map { $0.value(of: name) }
            guard values.recorded != nil || values.sent != nil else { continue }
            if let value = values.recorded, let other = values.sent, fits(value, other) { continue }
            add("header \(name)", name: name, values.map { $0.map { Differences.Shown(pattern: $0) } })
        }
        if !isMatch({ recorded.body.matches(sent.body, placeholders, &$0) }) { compare(shapes.map(\.body)) }
        if differences.list.isEmpty {
            var attempt = bindings
            _ = recorded.matches(sent, placeholders, &attempt)
            differences.conflict = attempt.conflict
        }
    }

    private mutating func add(_ place: String, name: String = "", _ values: Sides<Differences.Shown?>) {
        let mayBothBeGenerated =
            if let expected = values.recorded, let actual = values.sent, !name.isEmpty, expected.isText == actual.isText {
                expected.pattern.bytes.mayBothBeGenerated(actual.pattern.bytes)
            } else {
                false
            }
        differences.list.append(
            .init(place: place, name: name, expected: values.recorded, actual: values.shown, mayBothBeGenerated: mayBothBeGenerated))
        differences.distance += 1
    }

    private func shown(_ text: String, isText: Bool = true) -> Differences.Shown? {
        .init(pattern: Pattern(text, placeholders), isText: isText)
    }

    private func isMatch(_ matches: (inout Bindings) -> Bool) -> Bool {
        var attempt = bindings
        return matches(&attempt)
    }

    private func fits(_ recorded: Pattern, _ sent: Pattern) -> Bool { isMatch { recorded.matches(sent, placeholders, &$0) } }

    // MARK: - Comparing the parts

    private mutating func compare(_ items: Sides<[NormalizedRequest.Item]>, _ place: String) {
        let keys = (items.recorded + items.sent).map(\.name.string).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        for key in keys {
            let values = items.map { items in items.filter { $0.name.string == key }.map(\.value) }
            for index in 0..<max(values.recorded.count, values.sent.count) {
                let value = values.map { $0.dropFirst(index).first }
                if let recorded = value.recorded, let sent = value.sent, fits(recorded, sent) { continue }
                add("\(place) \(key)", name: key, value.map { $0.map { Differences.Shown(pattern: $0) } })
            }
        }
    }

    private mutating func compare(_ bodies: Sides<NormalizedRequest.Body>) {
        switch (bodies.recorded, bodies.sent, bodies.shown) {
        case (.json(let recorded), .json(let sent), .json(let shown)):
            compare(Sides(recorded: recorded, sent: sent, shown: shown), name: "", at: "body")
        case (.form(let recorded), .form(let sent), .form(let shown)):
            compare(Sides(recorded: recorded, sent: sent, shown: shown), "field")
        case (.parts(let recorded), .parts(let sent), .parts(let shown))
        where recorded.count == sent.count && recorded.count == shown.count:
            for index in recorded.indices {
                let part = Sides(recorded: recorded[index], sent: sent[index], shown: shown[index])
                if !fits(part.recorded.head, part.sent.head) {
                    add("the head of part \(index)", part.map { Differences.Shown(pattern: $0.head) })
                }
                if !isMatch({ part.recorded.body.matches(part.sent.body, placeholders, &$0) }) { compare(part.map(\.body)) }
            }
        default: add("body", bodies.map { shown($0.summary, isText: $0.isText) })
        }
    }

    private mutating func compare(_ values: Sides<NormalizedRequest.Value?>, name: String, at place: String) {
        if let recorded = values.recorded, let sent = values.sent, isMatch({ recorded.matches(sent, placeholders, &$0) }) { return }
        switch (values.recorded, values.sent) {
        case (.object?, .object?):
            let members = values.map(\.members)
            for key in Set((members.recorded + members.sent).map(\.name.string)).sorted() {
                let member = members.map { members in members.first { $0.name.string == key }?.value }
                if member.recorded == nil, members.recorded.contains(where: \.name.hasPlaceholders) { continue }
                if member.sent != nil, member.shown == nil {
                    // The key is a secret, so it has another name here.
                    let value = shown("a value", isText: false)
                    add("\(place == "body" ? "" : "\(place).")…", Sides(recorded: nil, sent: nil, shown: value))
                } else {
                    compare(member, name: key, at: place == "body" ? key : "\(place).\(key)")
                }
            }
        case (.array(let recorded)?, .array(let sent)?) where recorded.count == sent.count:
            for index in recorded.indices {
                compare(values.map { $0.elements.dropFirst(index).first }, name: name, at: "\(place)[\(index)]")
            }
        default: add(place, name: name, values.map { $0.flatMap { shown($0.text, isText: $0.isString) } })
        }
    }
}

// MARK: - Text

extension NormalizedRequest.Body {
    fileprivate var isText: Bool { if case .text = self { true } else { false } }

    fileprivate var summary: String {
        switch self {
        case .unknown: "a body that was not saved"
        case .json: "JSON"
        case .form(let items): "a form of \(items.count) fields"
        case .parts(let parts): "\(parts.count) parts"
        case .text(let pattern): pattern.string
        case .bytes(let bytes): bytes.isEmpty ? "no body" : "\(bytes.count) bytes"
        }
    }
}

extension NormalizedRequest.Value? {
    fileprivate var members: [NormalizedRequest.Member] { if case .object(let members)? = self { members } else { [] } }

    fileprivate var elements: [NormalizedRequest.Value] { if case .array(let elements)? = self { elements } else { [] } }
}

extension NormalizedRequest.Value {
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
    /// Whether a program may generate both in each run: they are numbers, or texts of one length, at least six bytes and without a space.
    func mayBothBeGenerated(_ other: [UInt8]) -> Bool {
        guard !isEmpty, !other.isEmpty else { return false }
        if allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }), other.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }) {
            return true
        }
        return count == other.count && count >= 6 && !contains(0x20)
    }
}
