import APIProvider
import Foundation

/// The members of a JSON object, each of which is taken once. What is left is a mistake of the sender.
struct Members {
    private let name: String
    private var values: [String: JSON]

    init(_ data: Data, _ name: String) throws {
        let value: JSON
        do { value = try JSONDecoder().decode(JSON.self, from: data) } catch { throw ServerError("There is no JSON for \(name).") }
        try self.init(value, name)
    }

    init(_ value: JSON, _ name: String) throws {
        guard let values = value.object else { throw ServerError("There must be an object for \(name).") }
        (self.values, self.name) = (values, name)
    }

    mutating func take(_ key: String) throws -> JSON? { values.removeValue(forKey: key) }

    func finish() throws {
        guard let key = values.keys.min() else { return }
        throw ServerError("There is an unknown member in \(name): \(key.prefix(100).debugDescription).")
    }

    // MARK: - Values

    mutating func string(_ key: String) throws -> String? { try take(key, "a string") { $0.string } }

    mutating func count(_ key: String) throws -> Int? {
        try take(key, "a whole number of at least 0") { $0.int.flatMap { $0 < 0 ? nil : $0 } }
    }

    mutating func seconds(_ key: String) throws -> DispatchTimeInterval? {
        try take(key, "a number of seconds from 0 to 300") { value in
            value.double.flatMap { 0...300 ~= $0 ? .nanoseconds(Int($0 * 1e9)) : nil }
        }
    }

    mutating func method() throws -> Method {
        try Method(checking: try string("method") ?? "GET")
    }

    /// Header fields, none of which can begin another line.
    mutating func headers() throws -> Fields {
        let fields = try take("headers", "an object of strings") { value in
            value.object.flatMap { object in object.values.allSatisfy { $0.string != nil } ? object.compactMapValues(\.string) : nil }
        }
        let symbols = Set("!#$%&'*+-.^_`|~".unicodeScalars)
        for (name, value) in fields ?? [:] {
            let isToken =
                !name.isEmpty
                && name.unicodeScalars.allSatisfy {
                    $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || symbols.contains($0))
                }
            guard isToken, value.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 || $0 == "\t" }) else {
                throw ServerError(
                    "The header \(name.prefix(100).debugDescription) of \(self.name) has a character that HTTP does not allow.")
            }
        }
        return Fields((fields ?? [:]).map { (key: $0.key, value: $0.value) })
    }

    /// Parameters, each of which is a text or an array of texts.
    mutating func parameters(_ key: String) throws -> QueryParameters? {
        try take(key, "an object of strings or arrays of strings") { value in
            guard let object = value.object else { return nil }
            var items: [URLQueryItem] = []
            for (name, value) in object {
                let texts = value.array?.map(\.string) ?? [value.string]
                for text in texts {
                    guard let text else { return nil }
                    items.append(URLQueryItem(name: name, value: text))
                }
            }
            return QueryParameters(items)
        }
    }

    private mutating func take<Value>(_ key: String, _ kind: String, _ convert: (JSON) -> Value?) throws -> Value? {
        guard let value = values.removeValue(forKey: key) else { return nil }
        guard let converted = convert(value) else { throw ServerError("The member \(key.debugDescription) of \(name) must be \(kind).") }
        return converted
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
