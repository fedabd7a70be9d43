/// Header fields, in order. Names are compared without regard to case, and a later value replaces an earlier one of the same name.
public struct HTTPHeaders: ExpressibleByDictionaryLiteral, Sequence, Hashable, Sendable {
    private var fields: [(name: String, value: String)] = []

    /// Headers with `headers`, in their order.
    public init(dictionaryLiteral headers: (String, String)...) {
        headers.forEach { self[$0.0] = $0.1 }
    }

    /// The value of the field `name`, in any case; setting `nil` removes the field.
    public subscript(name: String) -> String? {
        get { index(of: name).map { fields[$0].value } }
        set {
            let index = index(of: name)
            switch (index, newValue) {
            case (let index?, let value?): fields[index] = (name, value)
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append((name, value))
            case (nil, nil): break
            }
        }
    }

    /// Goes through the fields in their order.
    public func makeIterator() -> AnyIterator<(name: String, value: String)> { AnyIterator(fields.makeIterator()) }

    /// Whether both have the same fields, whatever their order and the case of their names.
    public static func == (lhs: HTTPHeaders, rhs: HTTPHeaders) -> Bool { lhs.byName == rhs.byName }

    /// Hashes the fields.
    public func hash(into hasher: inout Hasher) { hasher.combine(byName) }

    private var byName: [[UInt8]: String] {
        Dictionary(uniqueKeysWithValues: fields.map { (Self.key($0.name), $0.value) })
    }

    private func index(of name: String) -> Int? {
        let key = Self.key(name)
        return fields.firstIndex { Self.key($0.name) == key }
    }

    /// A name as it is compared: its bytes, in which ASCII letters are in lower case.
    private static func key(_ name: String) -> [UInt8] {
        name.utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
    }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The names of the fields. Values may be secrets, and are left out.
    public var description: String { "HTTPHeaders(\(fields.map(\.name).joined(separator: ", ")))" }
}

extension HTTPHeaders: CustomReflectable {
    /// Shows the names of the fields alone, also in a `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["fields": fields.map(\.name)]) }
}
