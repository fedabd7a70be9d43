public import Foundation

/// A query's or form's keys and values, in order. A key may occur several times.
///
/// ```swift
/// // Without the page if it is nil.
/// var query: QueryParameters = ["q": text, "label": ["a", "b"], "page": page]
/// query.append("sort", sortOrder)
/// let others = QueryParameters(dictionary)
/// ```
///
/// A key with `nil` or an empty array is left out. An array repeats the key: `label=a&label=b`. An empty string is sent as `q=`.
/// An infinite number or `NaN` makes an endpoint's query or form invalid.
public struct QueryParameters: ExpressibleByDictionaryLiteral, Sequence, Hashable, Sendable {
    @HiddenFromReflection private var items: [URLQueryItem] = []
    /// The bytes of the keys with a number that is not finite.
    var infiniteKeys: Set<[UInt8]> = []

    /// Why the parameters cannot be sent; `nil` for valid ones.
    var problem: String? {
        if infiniteKeys.isEmpty { return nil }
        return items.first { infiniteKeys.contains(Array($0.name.utf8)) }.map { "its value for \"\($0.name)\" is not a finite number" }
    }

    /// Creates parameters with `items`, in order.
    public init(dictionaryLiteral items: (String, (any QueryValue)?)...) {
        self.items.reserveCapacity(items.count)
        for (key, value) in items { append(key, value) }
    }

    /// Creates parameters with `items`, in order: `QueryParameters(dictionary)`.
    ///
    /// A dictionary's items are sorted by key.
    public init<Value: QueryValue>(_ items: some Sequence<(key: String, value: Value)>) {
        for (key, value) in items.inOrder() { append(key, value) }
    }

    /// Creates parameters with `items`, with values of several types, in order.
    ///
    /// A dictionary's items are sorted by key.
    public init(_ items: some Sequence<(key: String, value: any QueryValue)>) {
        for (key, value) in items.inOrder() { append(key, value) }
    }

    /// Creates parameters with `items`, in order. An item without a value is sent as a name alone.
    public init(_ items: some Sequence<URLQueryItem>) { self.items = Array(items) }

    // MARK: - Items

    /// Returns an iterator over the items, in order.
    public func makeIterator() -> IndexingIterator<[URLQueryItem]> { items.makeIterator() }

    /// The value for `key`: a `String`, an array of strings for a repeated key, or `nil`.
    ///
    /// Setting a value replaces all of the key's values, at the first one's position. Setting `nil` removes the key.
    public subscript(key: String) -> (any QueryValue)? {
        get {
            let values = items.filter { $0.name.hasSameBytes(as: key) }.compactMap(\.value)
            return values.count > 1 ? values : values.first
        }
        set {
            let position = items.firstIndex { $0.name.hasSameBytes(as: key) } ?? items.endIndex
            items.removeAll { $0.name.hasSameBytes(as: key) }
            infiniteKeys.remove(Array(key.utf8))
            let texts = texts(of: newValue, for: key)
            items.insert(contentsOf: texts.map { URLQueryItem(name: key, value: $0) }, at: position)
        }
    }

    /// Adds `key` with `value` at the end. Other values of `key` stay.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: The value. `nil` and an empty array add nothing, and an array adds the key once for each element.
    public mutating func append(_ key: String, _ value: (any QueryValue)?) {
        for text in texts(of: value, for: key) { items.append(URLQueryItem(name: key, value: text)) }
    }

    private mutating func texts(of value: (any QueryValue)?, for key: String) -> [String] {
        let texts = value?.queryValues ?? []
        // First the texts, because these casts take long.
        if let value, texts.contains(where: \.mayBeInfinite), value.isInfiniteNumber { infiniteKeys.insert(Array(key.utf8)) }
        return texts
    }

    /// Returns the parameters in `lhs`, then those in `rhs`. A common key occurs twice.
    public static func + (lhs: QueryParameters, rhs: QueryParameters) -> QueryParameters {
        var sum = lhs
        sum.items += rhs.items
        sum.infiniteKeys.formUnion(rhs.infiniteKeys)
        return sum
    }

    // MARK: - Encoding

    /// RFC 3986: all but the unreserved characters are escaped, a space as `%20`.
    var percentEncoded: String { encoded(\.escapedAsValue) }

    /// The WHATWG URL standard's `application/x-www-form-urlencoded`, where a space is `+`.
    var formEncoded: String { encoded(\.formEncoded) }

    private func encoded(_ encode: (String) -> String) -> String {
        var text = ""
        for (index, item) in items.enumerated() {
            if index > 0 { text += "&" }
            text += encode(item.name)
            guard let value = item.value else { continue }
            text += "="
            text += encode(value)
        }
        return text
    }
}

extension QueryParameters: CustomStringConvertible {
    /// The keys. Values may be secrets, and are left out.
    public var description: String { items.map { "\($0.name)=…" }.joined(separator: "&") }
}

extension String {
    /// Whether this may be the description of an infinite number or `NaN`.
    fileprivate var mayBeInfinite: Bool {
        switch utf8.last {
        case UInt8(ascii: "n"), UInt8(ascii: "N"), UInt8(ascii: "f"): ["nan", "inf"].contains(suffix(3).lowercased())
        default: false
        }
    }
}

extension QueryValue {
    /// Whether this is, or contains, an infinite number or `NaN`.
    fileprivate var isInfiniteNumber: Bool {
        switch self {
        case let number as any BinaryFloatingPoint: !number.isFinite
        case let number as Decimal: number.isNaN
        case let values as [any QueryValue]: values.contains { $0.isInfiniteNumber }
        default: false
        }
    }
}
