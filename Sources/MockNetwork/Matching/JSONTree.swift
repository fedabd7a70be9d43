import APIProvider
package import Foundation

/// JSON that is compared by its meaning. Numbers are exact, and strings are compared by their bytes.
package enum JSONTree: Equatable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(ByteString)
    case array([JSONTree])
    case object([ByteString: JSONTree])

    /// On Apple's systems, threads have a small stack, which deeper nesting would overflow.
    private static let maximumDepth = 100

    private struct NestedTooDeep: Error {}

    /// Throws if the data is not JSON (RFC 8259), or is nested too deeply. The text is UTF-8 or UTF-16.
    package init(_ data: Data) throws {
        // UTF-16 has a NUL beside each ASCII character.
        let hasMark = data.starts(with: [0xFE, 0xFF]) || data.starts(with: [0xFF, 0xFE])
        let encoding: String.Encoding =
            hasMark ? .utf16 : !data.prefix(4).contains(0) ? .utf8 : data.first == 0 ? .utf16BigEndian : .utf16LittleEndian
        var tokens = JSONTokens(Data((String(data: data, encoding: encoding) ?? "").utf8))
        self = try JSONTree(&tokens, from: tokens.next())
        _ = try tokens.next()
    }

    private init(_ tokens: inout JSONTokens, from token: JSONTokens.Token?) throws {
        guard tokens.depth <= Self.maximumDepth else { throw NestedTooDeep() }
        switch token?.kind {
        case .beginObject:
            var members: [ByteString: JSONTree] = [:]
            while let name = try tokens.next(), name.kind == .name {
                members[ByteString(tokens.text(of: name))] = try JSONTree(&tokens, from: tokens.next())
            }
            self = .object(members)
        case .beginArray:
            var elements: [JSONTree] = []
            while let element = try tokens.next(), element.kind != .endArray { elements.append(try JSONTree(&tokens, from: element)) }
            self = .array(elements)
        case .string, .name: self = .string(ByteString(token.map { tokens.text(of: $0) } ?? ""))
        case .number: self = .number(JSONNumber(String(decoding: token.map { tokens.bytes[$0.range] } ?? [], as: UTF8.self)))
        case .true: self = .bool(true)
        case .false: self = .bool(false)
        // Only null comes here: `next()` throws if brackets do not match or there is no token.
        case .null, .endObject, .endArray, nil: self = .null
        }
    }

    // MARK: - Comparing

    /// The parts of this tree that `part` has as well: objects lose the members that those of `part` do not have.
    func trimmed(to part: JSONTree?) -> JSONTree {
        guard case .object(let members) = self, case .object(let parts)? = part else { return self }
        return .object(
            members.reduce(into: [:]) { kept, member in
                if let part = parts[member.key] { kept[member.key] = member.value.trimmed(to: part) }
            })
    }

    /// The share of the members of `part` that this object has with the same values, from 0 to 1. 0 if one of the two is no object.
    func matchingShare(of part: JSONTree) -> Double {
        guard case .object(let members) = self, case .object(let parts) = part, !parts.isEmpty else { return 0 }
        return Double(parts.count { name, value in members[name]?.trimmed(to: value) == value }) / Double(parts.count)
    }

    /// The same tree with names in lower case and without underscores, as `dueDate` and `due_date` have in common.
    var normalizingKeys: JSONTree {
        switch self {
        case .object(let members):
            let names = members.map { (ByteString("\($0)".lowercased().filter { $0 != "_" }), $1.normalizingKeys) }
            return .object(Dictionary(names) { first, _ in first })
        case .array(let elements): return .array(elements.map(\.normalizingKeys))
        case .null, .bool, .number, .string: return self
        }
    }

    /// The values at one path in two trees. `nil` if there is none.
    typealias Pair = (expected: JSONTree?, actual: JSONTree?)

    /// The first differences of two trees and their paths, such as `items[2].name`. Empty if the trees are equal or differ at the root.
    ///
    /// - Parameters:
    ///   - redacted: The trees without secrets. A value is shown only if redaction has not changed it.
    ///   - limit: The number of differences to look for.
    static func differences(of trees: Pair, redacted: Pair, limit: Int, at path: String = "") -> [Difference] {
        let parts: [(path: String, value: (JSONTree) -> JSONTree?)]
        switch trees {
        case (.object(let expected)?, .object(let actual)?):
            parts = Set(expected.keys).union(actual.keys).sorted { $0.description < $1.description }.map { key in
                (path.isEmpty ? "\(key)" : "\(path).\(key)", { $0.members[key] })
            }
        case (.array(let expected)?, .array(let actual)?):
            parts = (0..<max(expected.count, actual.count)).map { index in ("\(path)[\(index)]", { $0.elements.dropFirst(index).first }) }
        default:
            guard trees.expected != trees.actual, !path.isEmpty else { return [] }
            let texts = [trees.expected, trees.actual].map { value in value.map { trees == redacted ? $0.excerpt : "…" } ?? "nothing" }
            return [Difference(path: path, Difference(expected: texts[0], actual: texts[1]))]
        }
        var found: [Difference] = []
        for (path, value) in parts where found.count < limit {
            let inner: Pair = (trees.expected.flatMap(value), trees.actual.flatMap(value))
            let innerRedacted: Pair = (redacted.expected.flatMap(value), redacted.actual.flatMap(value))
            found += differences(of: inner, redacted: innerRedacted, limit: limit - found.count, at: path)
        }
        return found
    }

    private var members: [ByteString: JSONTree] { if case .object(let members) = self { members } else { [:] } }

    private var elements: [JSONTree] { if case .array(let elements) = self { elements } else { [] } }

    private var excerpt: String {
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

extension JSONTree {
    /// With its article, for sentences.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
