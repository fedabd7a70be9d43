/// Keys and values of a query or a form, in order. A key may come again.
///
/// `nil` and an empty array leave their key out; an array repeats it: `["label": ["a", "b"], "page": nil]` is `label=a&label=b`.
public struct QueryParameters: ExpressibleByDictionaryLiteral, Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package let items: [Item]

    /// Parameters with `items`, in their order.
    public init(dictionaryLiteral items: (String, (any QueryValue)?)...) {
        self.items = items.flatMap { name, value in (value?.queryValues ?? []).map { Item(name: name, value: $0) } }
    }

    /// RFC 3986: all but the unreserved characters are escaped, a space as `%20`.
    var percentEncoded: String {
        items.map { "\($0.name.percentEncoded(except: .unreserved))=\($0.value.percentEncoded(except: .unreserved))" }.joined(
            separator: "&")
    }

    /// The WHATWG URL standard's `application/x-www-form-urlencoded`, where a space is `+`.
    var formEncoded: String {
        items.map { "\($0.name.formEncoded)=\($0.value.formEncoded)" }.joined(separator: "&")
    }
}

extension QueryParameters: CustomStringConvertible, CustomReflectable {
    /// The keys. Values may be secrets, and are left out.
    public var description: String { items.map { "\($0.name)=…" }.joined(separator: "&") }

    /// Shows the keys alone, also in a `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["items": description]) }
}
