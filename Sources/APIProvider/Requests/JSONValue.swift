package import Foundation

/// JSON of any shape: a body whose members have several types, or a response for which you have no type.
///
/// ```swift
/// let hot = HTTPBody.json(["celsius": 38.5, "tags": ["heat", nil], "isNew": true])
/// let note = HTTPBody.json(["text": JSONValue(text), "id": JSONValue(id)])
///
/// provider.request(Endpoint<JSONValue>(.get, "/user"))
///     .map { $0["plan"]?["name"]?.string }
/// ```
///
/// A literal is a value, and so is `JSONValue(variable)`. The literal `nil` is `null` in `isOn ? JSONValue(text) : nil`, even where a
/// `JSONValue?` is expected. Write `.none` there for no value. If you know the shape, a `Codable` struct is checked by the compiler, and
/// faster.
///
/// ### Numbers and keys
///
/// Values are equal if they are the same JSON: `1` is `1.0`, and the order of keys does not matter. Integers that fit into an `Int64` or a
/// `UInt64` are exact, and other numbers are a `Double`. Keys are never changed by a strategy of an encoder or a decoder. `NaN` and the
/// infinities are not JSON, and encoding them throws.
///
/// ### Depth
///
/// As any `Codable` type, it is read and written with the stack of the thread. More than 64 levels are an error, and not a crash.
/// ``HTTPBody/json(_:)`` and ``description`` have no such limit.
public struct JSONValue: Sendable {
    private enum Storage: Sendable {
        case null
        case bool(Bool)
        case int(Int64)
        /// More than an `Int64` holds.
        case uint(UInt64)
        /// Neither of the integers.
        case double(Double)
        case string(String)
        case array([JSONValue])
        case object([String: JSONValue])
    }

    private let storage: Storage

    private init(storage: Storage?) { self.storage = storage ?? .null }

    /// Creates the string `value`, or null.
    public init(_ value: (some StringProtocol)?) { self.init(storage: value.map { .string(String($0)) }) }

    /// Creates the Boolean `value`, or null.
    public init(_ value: Bool?) { self.init(storage: value.map { .bool($0) }) }

    /// Creates the number `value`, or null. One that fits neither into an `Int64` nor into a `UInt64` becomes a `Double`.
    public init(_ value: (some BinaryInteger)?) {
        self.init(
            storage: value.map { Int64(exactly: $0).map { .int($0) } ?? UInt64(exactly: $0).map { .uint($0) } ?? .double(Double($0)) })
    }

    /// Creates the number `value`, or null. A number that is not finite is not JSON, and cannot be encoded.
    public init(_ value: Double?) {
        self.init(storage: value.map { Int64(exactly: $0).map { .int($0) } ?? UInt64(exactly: $0).map { .uint($0) } ?? .double($0) })
    }

    /// Creates an array with the elements of `value`, or null.
    public init(_ value: [JSONValue]?) { self.init(storage: value.map { .array($0) }) }

    /// Creates an object with the members of `value`, or null.
    public init(_ value: [String: JSONValue]?) { self.init(storage: value.map { .object($0) }) }
}

// MARK: - Reading

extension JSONValue {
    /// The member `key` of an object. `nil` if this is not an object, or has no such member.
    public subscript(key: String) -> JSONValue? { object?[key] }

    /// The element of an array at `index`. `nil` if this is not an array, or has no such element.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return .none }
        return array[index]
    }

    /// Whether it is `null`.
    public var isNull: Bool { if case .null = storage { true } else { false } }

    /// The string. `nil` if this is not a string.
    public var string: String? { if case .string(let value) = storage { value } else { nil } }

    /// The Boolean value. `nil` if this is not a Boolean.
    public var bool: Bool? { if case .bool(let value) = storage { value } else { nil } }

    /// The number. `nil` if this is not a whole number that fits into an `Int`.
    public var int: Int? { if case .int(let value) = storage { Int(exactly: value) } else { nil } }

    /// The number, rounded if it has more digits than a `Double` holds. `nil` if this is not a number.
    public var double: Double? {
        switch storage {
        case .int(let value): Double(value)
        case .uint(let value): Double(value)
        case .double(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// The elements of an array. `nil` if this is not an array.
    public var array: [JSONValue]? { if case .array(let value) = storage { value } else { nil } }

    /// The members of an object. `nil` if this is not an object.
    public var object: [String: JSONValue]? { if case .object(let value) = storage { value } else { nil } }
}

// MARK: - Literals

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates `null`.
    public init(nilLiteral: ()) { self.init(storage: nil) }
    /// Creates the Boolean `value`.
    public init(booleanLiteral value: Bool) { self.init(value) }
    /// Creates the number `value`.
    public init(integerLiteral value: Int64) { self.init(value) }
    /// Creates the number `value`.
    public init(floatLiteral value: Double) { self.init(value) }
    /// Creates the string `value`.
    public init(stringLiteral value: String) { self.init(value) }
    /// Creates an array of `elements`.
    public init(arrayLiteral elements: JSONValue...) { self.init(elements) }
    /// Creates an object of `elements`. Of a key that occurs several times, the last value counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(Dictionary(elements) { $1 }) }
}

// MARK: - Codable

extension JSONValue: Codable {
    /// The maximum number of levels that are read and written. Each takes up to 5 KB of the stack, and many threads of Apple's systems have
    /// 512 KB.
    private static let maxDepth = 64

    /// Reads a value from `decoder`.
    public init(from decoder: any Decoder) throws {
        if let scalar = try Self.scalar(of: decoder) {
            self.init(storage: scalar)
            return
        }
        guard decoder.codingPath.count < Self.maxDepth else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: Self.depthProblem))
        }
        // A decoder does not change the keys of a dictionary.
        let container = try decoder.singleValueContainer()
        if (try? decoder.unkeyedContainer()) == nil {
            self.init(try container.decode([String: JSONValue].self))
        } else {
            self.init(try container.decode([JSONValue].self))
        }
    }

    /// Writes the value to `encoder`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch storage {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(try checked(elements, encoder))
        case .object(let members): try container.encode(try checked(members, encoder))
        }
    }

    private func checked<Value>(_ value: Value, _ encoder: any Encoder) throws -> Value {
        guard encoder.codingPath.count >= Self.maxDepth else { return value }
        throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: Self.depthProblem))
    }

    /// The value if it has no others in it; `nil` if the decoder has an array or an object. A function of
    /// its own, because its variables would enlarge each level of the recursion.
    private static func scalar(of decoder: any Decoder) throws -> Storage? {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() { return .null }
        if let value = try? container.decode(String.self) { return .string(value) }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .int(value) }
        // `JSONDecoder` on Linux reads 9223372036854775807.0 as a UInt64, and not as an Int64.
        if let value = try? container.decode(UInt64.self) { return JSONValue(value).storage }
        // A number that does not fit is an error, and no other kind of value.
        do { return JSONValue(try container.decode(Double.self)).storage } catch DecodingError.typeMismatch { return nil }
    }

    private static var depthProblem: String { "it is nested more than \(maxDepth) levels deep" }
}

// MARK: - Text

extension JSONValue: CustomStringConvertible {
    /// The value as JSON, with sorted keys and without white space.
    public var description: String { json.text }

    /// The value as JSON. Throws if it has a number that is not finite.
    package var data: Data {
        get throws {
            let json = json
            guard let number = json.notFinite else { return Data(json.text.utf8) }
            throw EncodingError.invalidValue(number, .init(codingPath: [], debugDescription: "JSON has no number \(number)"))
        }
    }

    /// The text, and a number in it that is not JSON. A value may be nested to any depth, so the pieces that are not yet written wait in an
    /// array, and not on the stack.
    private var json: (text: String, notFinite: Double?) {
        enum Piece {
            case text(String)
            case value(JSONValue)
        }
        var (text, notFinite) = ("", Double?.none)
        var rest = [Piece.value(self)]
        while let piece = rest.popLast() {
            guard case .value(let value) = piece else {
                if case .text(let piece) = piece { text += piece }
                continue
            }
            switch value.storage {
            case .null: text += "null"
            case .bool(let value): text += value ? "true" : "false"
            case .int(let value): text += "\(value)"
            case .uint(let value): text += "\(value)"
            case .double(let value):
                text += "\(value)"
                if !value.isFinite { notFinite = value }
            case .string(let value): text.appendQuoted(value)
            case .array(let elements):
                let pieces = elements.flatMap { [.text(","), Piece.value($0)] }
                rest += [.text("]")] + pieces.dropFirst().reversed() + [.text("[")]
            case .object(let members):
                let pieces = members.sorted { $0.key < $1.key }.flatMap { key, value in
                    var name = ""
                    name.appendQuoted(key)
                    return [.text(","), .text(name + ":"), Piece.value(value)]
                }
                rest += [.text("}")] + pieces.dropFirst().reversed() + [.text("{")]
            }
        }
        return (text, notFinite)
    }
}

extension String {
    /// Appends a string of JSON (RFC 8259, section 7).
    fileprivate mutating func appendQuoted(_ text: String) {
        self += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": self += "\\\(scalar)"
            case "\n": self += "\\n"
            case "\r": self += "\\r"
            case "\t": self += "\\t"
            case "\0"..<" ": self += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: unicodeScalars.append(scalar)
            }
        }
        self += "\""
    }
}

// MARK: - Equality

extension JSONValue: Hashable {
    /// Whether both are the same JSON.
    public static func == (lhs: JSONValue, rhs: JSONValue) -> Bool { lhs.description == rhs.description }

    /// Hashes the JSON.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
