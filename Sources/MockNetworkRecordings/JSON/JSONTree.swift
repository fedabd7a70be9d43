import APIProviderMocks
import Foundation

/// JSON that is compared by its meaning. Numbers are exact, and strings are compared by their bytes.
enum JSONTree: Equatable {
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
    init(_ data: Data) throws {
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
}

extension JSONTree {
    /// With its article, for sentences.
    var kind: String {
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
