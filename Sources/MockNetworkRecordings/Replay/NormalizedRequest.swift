import APIProvider
import APIProviderMocks
import Foundation

/// A request as replay compares it: the URL by its parts, and the body by its meaning.
struct NormalizedRequest: Sendable {
    indirect enum Value: Sendable, Equatable {
        case null
        case bool(Bool)
        case number(JSONNumber)
        case string(Pattern)
        case array([Value])
        /// Sorted by name.
        case object([Member])
    }

    struct Member: Sendable, Equatable {
        let name: Pattern
        let value: Value
    }

    struct Item: Sendable, Equatable {
        let name: Pattern
        let value: Pattern
    }

    indirect enum Body: Sendable, Equatable {
        /// A file does not say what it was.
        case unknown
        case json(Value)
        case form([Item])
        case parts([BodyPart])
        case text(Pattern)
        case bytes([UInt8])
    }

    struct BodyPart: Sendable, Equatable {
        let head: Pattern
        let body: Body
    }

    let method: String
    /// `nil` if any host answers.
    let origin: String?
    let path: [Pattern]
    let query: [Item]
    let body: Body
    let headers: [(name: String, value: Pattern)]
    /// The values that are not compared, by their names.
    private let ignoredValues: [String: [Pattern]]

    /// - Parameter ignored: The names that are not compared.
    init(_ exchange: RecordedExchange, _ placeholders: Placeholders, ignoring ignored: SecretNames, forAnyHost isForAnyHost: Bool) {
        let url = URLParts(exchange.url)
        method = exchange.method
        origin = isForAnyHost ? nil : url.origin
        path = url.segments.map { Pattern($0, placeholders) }
        var builder = Builder(placeholders: placeholders, ignored: ignored)
        query = builder.items(url.formQuery)
        body = exchange.body.map { builder.body($0, exchange.type) } ?? .unknown
        ignoredValues = builder.ignoredValues
        headers = exchange.headers.map { ($0.name.lowercased(), Pattern($0.value, placeholders)) }
    }
}

/// Reads the parts of a request, without what is ignored.
private struct Builder {
    let placeholders: Placeholders
    let ignored: SecretNames
    var ignoredValues: [String: [Pattern]] = [:]

    /// Whether a value of this name is not compared.
    private mutating func isIgnored(_ name: String, _ value: @autoclosure () -> String) -> Bool {
        guard let key = ignored.ignored(name) else { return false }
        ignoredValues[key, default: []].append(Pattern(value(), placeholders))
        return true
    }

    /// Sorted by name.
    mutating func items(_ items: [URLQueryItem]) -> [NormalizedRequest.Item] {
        var kept: [(index: Int, item: NormalizedRequest.Item)] = []
        for (index, item) in items.enumerated() where !isIgnored(item.name, item.value ?? "") {
            kept.append((index, .init(name: Pattern(item.name, placeholders), value: Pattern(item.value ?? "", placeholders))))
        }
        return kept.sorted {
            $0.item.name.bytes == $1.item.name.bytes
                ? $0.index < $1.index : $0.item.name.bytes.lexicographicallyPrecedes($1.item.name.bytes)
        }.map(\.item)
    }

    mutating func body(_ bytes: [UInt8], _ type: String, isPart: Bool = false) -> NormalizedRequest.Body {
        guard !bytes.isEmpty else { return .bytes([]) }
        if type.mediaType == "application/x-www-form-urlencoded" || !isPart && type.isEmpty && bytes.looksLikeForm {
            return .form(items([URLQueryItem](form: String(decoding: bytes, as: UTF8.self))))
        }
        if type.mediaType.hasPrefix("multipart/"), let multipart = Multipart(bytes, type: type) {
            var parts: [NormalizedRequest.BodyPart] = []
            for part in multipart.parts where !isIgnored(part.name, String(decoding: bytes[part.body], as: UTF8.self)) {
                let head = Pattern(String(decoding: bytes[part.head], as: UTF8.self), placeholders)
                parts.append(.init(head: head, body: body(Array(bytes[part.body]), part.type, isPart: true)))
            }
            return .parts(parts)
        }
        if let tree = try? JSONTree(Data(bytes)), !tree.isScalar || type.mediaType.hasSuffix("json") { return .json(value(tree)) }
        return bytes.isUTF8 ? .text(Pattern(String(decoding: bytes, as: UTF8.self), placeholders)) : .bytes(bytes)
    }

    private mutating func value(_ tree: JSONTree) -> NormalizedRequest.Value {
        switch tree {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .number(let number): return .number(number)
        case .string(let text): return .string(Pattern(text.description, placeholders))
        case .array(let elements):
            var values: [NormalizedRequest.Value] = []
            for element in elements { values.append(value(element)) }
            return .array(values)
        case .object(let members):
            var kept: [NormalizedRequest.Member] = []
            for (name, member) in members where !isIgnored(name.description, member.scalar) {
                kept.append(.init(name: Pattern(name.description, placeholders), value: value(member)))
            }
            return .object(kept.sorted { $0.name.bytes.lexicographicallyPrecedes($1.name.bytes) })
        }
    }
}

extension JSONTree {
    /// Whether it is neither an object nor an array. A text may be one by chance.
    fileprivate var isScalar: Bool {
        switch self {
        case .object, .array: false
        case .null, .bool, .number, .string: true
        }
    }

    fileprivate var scalar: String {
        switch self {
        case .string(let text): text.description
        case .number(let number): number.text
        default: ""
        }
    }
}

// MARK: - Matching

extension NormalizedRequest {
    /// Whether a request fits this one of a file. Gives placeholders their texts.
    func matches(_ sent: NormalizedRequest, _ placeholders: Placeholders, _ bindings: inout Bindings) -> Bool {
        guard method == sent.method, origin == nil || origin == sent.origin, path.count == sent.path.count, query.count == sent.query.count
        else { return false }
        for (mine, other) in zip(path, sent.path) where !mine.matches(other, placeholders, &bindings) { return false }
        guard Self.matches(query, sent.query, placeholders, &bindings), body.matches(sent.body, placeholders, &bindings) else {
            return false
        }
        for (name, values) in ignoredValues {
            for (mine, other) in zip(values, sent.ignoredValues[name] ?? []) { _ = mine.matches(other, placeholders, &bindings) }
        }
        return true
    }

    fileprivate static func matches(_ items: [Item], _ sent: [Item], _ placeholders: Placeholders, _ bindings: inout Bindings) -> Bool {
        guard items.count == sent.count else { return false }
        for (mine, other) in zip(items, sent) {
            guard mine.name.matches(other.name, placeholders, &bindings), mine.value.matches(other.value, placeholders, &bindings) else {
                return false
            }
        }
        return true
    }
}

extension NormalizedRequest.Body {
    func matches(_ sent: Self, _ placeholders: Placeholders, _ bindings: inout Bindings) -> Bool {
        switch (self, sent) {
        case (.unknown, _): return true
        case (.json(let mine), .json(let other)): return mine.matches(other, placeholders, &bindings)
        case (.form(let mine), .form(let other)): return NormalizedRequest.matches(mine, other, placeholders, &bindings)
        case (.parts(let mine), .parts(let other)):
            guard mine.count == other.count else { return false }
            for (mine, other) in zip(mine, other) {
                guard mine.head.matches(other.head, placeholders, &bindings), mine.body.matches(other.body, placeholders, &bindings) else {
                    return false
                }
            }
            return true
        case (.text(let mine), .text(let other)): return mine.matches(other, placeholders, &bindings)
        default: return self == sent
        }
    }
}

extension NormalizedRequest.Value {
    func matches(_ sent: Self, _ placeholders: Placeholders, _ bindings: inout Bindings) -> Bool {
        switch (self, sent) {
        case (.number(let mine), .number(let other)):
            guard let origin = placeholders.origins[mine.text], origin != .response else { return mine == other }
            return Pattern.bind(mine.text, Array(other.text.utf8), placeholders, &bindings)
        case (.string(let mine), .string(let other)): return mine.matches(other, placeholders, &bindings)
        case (.array(let mine), .array(let other)):
            guard mine.count == other.count else { return false }
            for (mine, other) in zip(mine, other) where !mine.matches(other, placeholders, &bindings) { return false }
            return true
        case (.object(let mine), .object(let other)):
            guard mine.count == other.count else { return false }
            guard mine.contains(where: \.name.hasPlaceholders) else {
                for (mine, other) in zip(mine, other) {
                    guard mine.name.bytes == other.name.bytes, mine.value.matches(other.value, placeholders, &bindings) else {
                        return false
                    }
                }
                return true
            }
            var rest = other
            for member in mine.sorted(by: { !$0.name.hasPlaceholders && $1.name.hasPlaceholders }) {
                let place = rest.firstIndex { other in
                    var attempt = bindings
                    guard member.name.matches(other.name, placeholders, &attempt), member.value.matches(other.value, placeholders, &attempt)
                    else {
                        return false
                    }
                    bindings = attempt
                    return true
                }
                guard let place else { return false }
                rest.remove(at: place)
            }
            return true
        default: return self == sent
        }
    }
}
