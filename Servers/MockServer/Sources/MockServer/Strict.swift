@_spi(Transports) import APIProvider
import Foundation

/// An object without other members than those of its type.
struct Strict<Value: Decodable & Sendable>: Decodable, Sendable {
    let value: Value

    init(from decoder: any Decoder) throws {
        let names = try [String: Empty](from: decoder).keys.sorted()
        value = try Value(from: decoder)
        let known = Mirror(reflecting: value).children.compactMap(\.label)
        guard let name = names.first(where: { !known.contains($0) }) else { return }
        let hint = name == "url" ? " The URL of a stub is its \"path\"." : ""
        throw ServerError(
            "There is an unknown member in \(decoder.codingPath.place): \(String(name.prefix(100)).debugDescription).\(hint)")
    }
}

/// Any value, of which nothing is read. As ``Strict``, it is an object without members.
struct Empty: Decodable {}

/// A value, or an array of values.
struct OneOrMore<Element: Decodable & Sendable>: Decodable, Sendable {
    let elements: [Element]
    let isArray: Bool

    init(from decoder: any Decoder) throws {
        isArray = (try? decoder.unkeyedContainer()) != nil
        elements = isArray ? try [Element](from: decoder) : [try Element(from: decoder)]
    }
}

// MARK: - Errors

extension ServerError {
    init(_ error: DecodingError) {
        switch error {
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            let kinds = ["Double": "a number", "String": "a string", "Bool": "true or false"]
            let kind = kinds["\(type)"] ?? ("\(type)".hasPrefix("Array") ? "an array" : "an object")
            self.init("Wrong value: \(context.codingPath.place) must be \(kind).")
        case .keyNotFound(_, let context), .dataCorrupted(let context):
            self.init("Wrong value: \(context.codingPath.place) cannot be read. \(context.debugDescription)")
        @unknown default: self.init("\(error)")
        }
    }
}

extension [any CodingKey] {
    /// Such as `"X" of "headers" of response[1]`.
    fileprivate var place: String {
        guard let last else { return "the stub" }
        let parent = Array(dropLast())
        if let index = last.intValue { return parent.isEmpty ? "stubs[\(index)]" : "\(parent.place)[\(index)]" }
        let name = last.stringValue == "response" ? "response" : last.stringValue.debugDescription
        return parent.isEmpty && name == "response" ? name : "\(name) of \(parent.place)"
    }
}

// MARK: - Values

extension QueryParameters {
    init(_ parameters: [String: OneOrMore<String>]) {
        self.init(parameters.flatMap { name, values in values.elements.map { URLQueryItem(name: name, value: $0) } })
    }
}

extension Fields {
    /// Header fields, none of which can begin another line.
    init(checking fields: [String: String]?, _ owner: String) throws {
        for (name, value) in fields ?? [:] where (try? Fields.check(name, value)) == nil {
            throw ServerError("The header \(name.prefix(100).debugDescription) of \(owner) has a character that HTTP does not allow.")
        }
        self.init((fields ?? [:]).map { (key: $0.key, value: $0.value) })
    }
}

extension Method {
    /// - Throws: A sentence, if no client sends this method.
    init(checking text: String) throws {
        let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
        guard methods.contains(text) else {
            throw ServerError(
                "The \"method\" is \(text.prefix(100).debugDescription), and must be one of \(methods.joined(separator: ", ")).")
        }
        self.init(rawValue: text)
    }
}
