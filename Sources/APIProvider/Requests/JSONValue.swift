public import Foundation

/// JSON of any shape: a body with members of several types, or a response without a type.
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
/// `JSONValue?` is expected. For no value, write `.none` there. If you know the shape, a `Codable` struct is checked by the compiler, and
/// faster. ``init(encoding:encoder:)`` and ``decode(_:by:)`` convert between the two.
///
/// ### Numbers and keys
///
/// A whole number is an `Int`, and a fraction the nearest `Double`. An integer without an exact value in either, such as 2⁶⁴ − 1, is a
/// `DecodingError`: read it into a struct's `UInt64` or `Decimal`. The literal `1.0` and `JSONValue(1.0)` are `int(1)`, too. The case
/// `double(1)` is not equal. No encoder's or decoder's strategy changes keys. `NaN` and the infinities are not JSON, and encoding them
/// throws.
///
/// ### Depth
///
/// Like any `Codable` type, a value takes stack for each level. More than 64 levels are an error, and not a crash.
public enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// A Boolean value.
    case bool(Bool)
    /// A whole number.
    case int(Int)
    /// A fraction, or a whole number too large for an `Int`.
    case double(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object([String: JSONValue])

    /// Creates the string `value`, or null.
    public init(_ value: (some StringProtocol)?) { self = value.map { .string(String($0)) } ?? .null }

    /// Creates the Boolean `value`, or null.
    public init(_ value: Bool?) { self = value.map { .bool($0) } ?? .null }

    /// Creates the number `value`, or null.
    public init(_ value: Int?) { self = value.map { .int($0) } ?? .null }

    /// Creates the number `value`, or null. An infinite number and `NaN` are not JSON, and cannot be encoded.
    public init(_ value: Double?) { self = value.map { number in Int(exactly: number).map { .int($0) } ?? .double(number) } ?? .null }

    /// Creates an array with the elements of `value`, or null.
    public init(_ value: [JSONValue]?) { self = value.map { .array($0) } ?? .null }

    /// Creates an object with the members of `value`, or null.
    public init(_ value: [String: JSONValue]?) { self = value.map { .object($0) } ?? .null }
}

// MARK: - Reading

extension JSONValue {
    /// An object's member `key`; `nil` for other values, and without such a member.
    public subscript(key: String) -> JSONValue? { object?[key] }

    /// An array's element at `index`; `nil` for other values, and without such an element.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return .none }
        return array[index]
    }

    /// Whether the value is `null`.
    public var isNull: Bool { self == .null }

    /// The string; `nil` for other values.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The Boolean value; `nil` for other values.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The whole number, if `Int` is large enough; `nil` for other values.
    public var int: Int? {
        switch self {
        case .int(let value): value
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number, rounded to a `Double`; `nil` for other values.
    public var double: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// An array's elements; `nil` for other values.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// An object's members; `nil` for other values.
    public var object: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }
}

// MARK: - Literals

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Creates the Boolean `value`.
    public init(booleanLiteral value: Bool) { self.init(value) }
    /// Creates the number `value`.
    public init(integerLiteral value: Int) { self.init(value) }
    /// Creates the number `value`.
    public init(floatLiteral value: Double) { self.init(value) }
    /// Creates the string `value`.
    public init(stringLiteral value: String) { self.init(value) }
    /// Creates an array of `elements`.
    public init(arrayLiteral elements: JSONValue...) { self.init(elements) }
    /// Creates an object of `elements`. The last value of a repeated key counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(Dictionary(elements) { $1 }) }
}

// MARK: - Codable

extension JSONValue: Codable {
    /// The maximum number of levels. Each takes up to 5 KB of the stack, and many threads on Apple's systems have 512 KB.
    private static let maxDepth = 64

    /// Creates JSON by encoding `value` with `encoder`.
    ///
    /// - Throws: `EncodingError` if a number, such as a `Decimal`, has more digits than an `Int` or a `Double`. The errors of `encoder`. No
    ///   `EncodingError` contains a value.
    public init(encoding value: some Encodable, encoder: JSONEncoder = JSONEncoder()) throws {
        let decoder = JSONDecoder()
        if let key = Self.keepsDigits { decoder.userInfo[key] = true }
        do {
            self = try decoder.decode(JSONValue.self, from: encoder.encode(value))
        } catch DecodingError.dataCorrupted(let context) {
            let place = context.codingPath.map(\.stringValue).joined(separator: ".")
            let text = context.debugDescription + (place.isEmpty ? "" : " (at \(place))")
            throw EncodingError.invalidValue(type(of: value), .init(codingPath: context.codingPath, debugDescription: text))
        } catch {
            throw error.withoutValue
        }
    }

    /// For numbers that the app gives: an error in place of other digits.
    private static let keepsDigits = CodingUserInfoKey(rawValue: "APIProvider.JSONValue.keepsDigits")

    /// Decodes `type` from this JSON. Throws the decoder's errors.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, by decoder: JSONDecoder = JSONDecoder()) throws -> Value {
        try decoder.decode(type, from: data)
    }

    /// Reads a value from `decoder`.
    public init(from decoder: any Decoder) throws {
        if let scalar = try Self.scalar(of: decoder) {
            self = scalar
            if let key = Self.keepsDigits, decoder.userInfo[key] != nil { try requireDigits(of: decoder) }
            return
        }
        guard decoder.codingPath.count < Self.maxDepth else {
            let problem = "it is nested more than \(Self.maxDepth) levels deep"
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
        }
        // A decoder does not change a dictionary's keys.
        let container = try decoder.singleValueContainer()
        if (try? decoder.unkeyedContainer()) == nil {
            self = .object(try container.decode([String: JSONValue].self))
        } else {
            self = .array(try container.decode([JSONValue].self))
        }
    }

    /// Writes the value to `encoder`.
    public func encode(to encoder: any Encoder) throws {
        guard encoder.codingPath.count <= Self.maxDepth else {
            let problem = "it is nested more than \(Self.maxDepth) levels deep"
            throw EncodingError.invalidValue(JSONValue.self, .init(codingPath: encoder.codingPath, debugDescription: problem))
        }
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value):
            // 2⁶² is 4611686018427387904, and not 4.611686018427388e+18.
            if let whole = Int(exactly: value) { try container.encode(whole) } else { try container.encode(value) }
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }

    /// The value, unless an array or an object. A separate function, because the variables would enlarge each level of the recursion.
    private static func scalar(of decoder: any Decoder) throws -> JSONValue? {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() { return .null }
        if let value = try container.decodeIfMatching(String.self) { return .string(value) }
        if let value = try container.decodeIfMatching(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int.self) {
            // On Linux, `JSONDecoder` reads 9007199254740993.5 as an Int, too.
            guard value.magnitude > 1 << 53, let exact = try? container.decode(Decimal.self), exact != Decimal(value) else {
                return .int(value)
            }
        }
        guard let value = try container.decodeIfMatching(Double.self) else { return nil }
        // Up to 2⁵³, a `Double` holds all integers.
        guard value.magnitude >= 0x1p53, let exact = try? container.decode(Decimal.self) else { return JSONValue(value) }
        let isExact = Decimal(string: "\(value)") == exact || Decimal(string: String(format: "%.0f", value)) == exact
        guard exact.exponent < 0 || isExact else {
            let problem = "Neither an Int nor a Double holds this number exactly; read it as a UInt64 or a Decimal."
            throw DecodingError.dataCorruptedError(in: container, debugDescription: problem)
        }
        return JSONValue(value)
    }
}

extension JSONValue {
    /// Throws if a number has lost digits. In a `Double`, 0.1 keeps them.
    private func requireDigits(of decoder: any Decoder) throws {
        let kept: Decimal?
        switch self {
        case .int(let value): kept = Decimal(value)
        case .double(let value): kept = Decimal(string: "\(value)")
        default: return
        }
        let container = try decoder.singleValueContainer()
        guard let exact = try? container.decode(Decimal.self), exact != kept else { return }
        let problem = "A number has digits that neither an Int nor a Double holds; encode it as a string."
        throw DecodingError.dataCorruptedError(in: container, debugDescription: problem)
    }
}

extension Error {
    /// The error with the type in place of a value that could not be encoded: values are the app's, and may be secret.
    var withoutValue: any Error {
        guard case EncodingError.invalidValue(let value, let context)? = self as? EncodingError else { return self }
        return EncodingError.invalidValue(type(of: value), context)
    }
}

extension SingleValueDecodingContainer {
    /// `nil` for a value of another type. Throws any other error.
    fileprivate func decodeIfMatching<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        do { return try decode(type) } catch DecodingError.typeMismatch { return nil }
    }
}

// MARK: - Text

extension JSONValue: CustomStringConvertible {
    /// The value as JSON, with sorted keys and without white space, or the reason why the value cannot be encoded.
    public var description: String {
        do { return String(decoding: try data, as: UTF8.self) } catch { return "no JSON: \(error.explanation)" }
    }

    /// The value as JSON, with sorted keys. Throws for an infinite number or `NaN`.
    package var data: Data {
        get throws { try Self.encoder.encode(self) }
    }

    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
