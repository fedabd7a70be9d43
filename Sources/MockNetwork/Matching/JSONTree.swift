import APIProvider
import Foundation

/// JSON as it is compared: by what it means. Numbers are exact, and text is equal by its bytes.
enum JSONTree: Equatable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(ExactText)
    case array([JSONTree])
    case object([ExactText: JSONTree])

    /// Threads elsewhere than on Linux have a small stack, which deeper nesting would take.
    private static let maximumDepth = 100

    private struct NestedTooDeep: Error {}

    /// Throws for what is no JSON (RFC 8259), and for what is nested too deep. The text is UTF-8 or UTF-16.
    init(_ data: Data) throws {
        // UTF-16 has a NUL beside each ASCII character.
        let encoding: String.Encoding = !data.prefix(4).contains(0) ? .utf8 : data.first == 0 ? .utf16BigEndian : .utf16LittleEndian
        var tokens = JSONTokens(Data((String(data: data, encoding: encoding) ?? "").utf8))
        self = try JSONTree(&tokens, from: tokens.next())
        _ = try tokens.next()
    }

    private init(_ tokens: inout JSONTokens, from token: JSONTokens.Token?) throws {
        guard tokens.depth <= Self.maximumDepth else { throw NestedTooDeep() }
        switch token?.kind {
        case .beginObject:
            var members: [ExactText: JSONTree] = [:]
            while let name = try tokens.next(), name.kind == .name {
                members[ExactText(tokens.text(of: name))] = try JSONTree(&tokens, from: tokens.next())
            }
            self = .object(members)
        case .beginArray:
            var elements: [JSONTree] = []
            while let element = try tokens.next(), element.kind != .endArray { elements.append(try JSONTree(&tokens, from: element)) }
            self = .array(elements)
        case .string, .name: self = .string(ExactText(token.map { tokens.text(of: $0) } ?? ""))
        case .number: self = .number(JSONNumber(String(decoding: token.map { tokens.bytes[$0.range] } ?? [], as: UTF8.self)))
        case .true: self = .bool(true)
        case .false: self = .bool(false)
        // Brackets come in pairs, and there is a token, or else it throws.
        case .null, .endObject, .endArray, nil: self = .null
        }
    }

    /// The first place, by its path, in which `other` is different; `nil` where the whole is of another kind.
    ///
    /// A value shows only if it also stands there in `shown`, or in `otherShown`: in the JSON without its secrets.
    func firstDifference(
        to other: JSONTree, shown: JSONTree?, otherShown: JSONTree?
    ) -> Difference? {
        guard let path = difference(to: other, at: []), !path.isEmpty else { return nil }
        let (expected, actual) = (value(at: path[...]), other.value(at: path[...]))
        let isSecret = expected != shown?.value(at: path[...]) || actual != otherShown?.value(at: path[...])
        let place = path.reduce(into: "") { text, step in
            switch step {
            case .key(let key): text += text.isEmpty ? "\(key)" : ".\(key)"
            case .index(let index): text += "[\(index)]"
            }
        }
        let difference = Difference(
            expected: expected.map { isSecret ? "…" : $0.shown } ?? "nothing", actual: actual.map { isSecret ? "…" : $0.shown } ?? "nothing"
        )
        return Difference(place: place, difference)
    }

    private enum PathStep {
        case key(ExactText)
        case index(Int)
    }

    private func difference(to other: JSONTree, at path: [PathStep]) -> [PathStep]? {
        switch (self, other) {
        case (.object(let expected), .object(let actual)):
            for key in Set(expected.keys).union(actual.keys).sorted(by: { $0.description < $1.description }) {
                let path = path + [.key(key)]
                guard let one = expected[key], let other = actual[key] else { return path }
                if let place = one.difference(to: other, at: path) { return place }
            }
            return nil
        case (.array(let expected), .array(let actual)):
            for index in 0..<max(expected.count, actual.count) {
                let path = path + [.index(index)]
                guard index < expected.count, index < actual.count else { return path }
                if let place = expected[index].difference(to: actual[index], at: path) { return place }
            }
            return nil
        default:
            return self == other ? nil : path
        }
    }

    private func value(at path: ArraySlice<PathStep>) -> JSONTree? {
        switch (path.first, self) {
        case (nil, _): self
        case (.key(let key), .object(let members)): members[key]?.value(at: path.dropFirst())
        case (.index(let index), .array(let elements)) where index < elements.count: elements[index].value(at: path.dropFirst())
        default: nil
        }
    }

    private var shown: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): value.text
        case .string(let value): "\(value)".debugDescription
        case .array: "an array"
        case .object: "an object"
        }
    }
}
