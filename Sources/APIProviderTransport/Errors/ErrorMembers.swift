import Foundation

/// The members of a JSON object, by their names in lower case and without `_` and `-`.
struct ErrorMembers {
    private var values: [String: Any] = [:]
    /// The elements, if it is an array and not an object.
    private let elements: [Any]
    private let object: [String: Any]
    private let status: Int

    init(_ json: Any, status: Int) {
        object = json as? [String: Any] ?? [:]
        elements = json as? [Any] ?? []
        self.status = status
        for (name, value) in object {
            let plain = name.plainName
            // Of two spellings, the plain one counts.
            if values[plain] == nil || name == plain { values[plain] = value }
        }
    }

    subscript(name: String) -> Any? { values[name] }

    // MARK: - The whole

    private static let textNames = [
        "message", "errordescription", "detail", "title", "msg", "errormessage", "errorsummary", "faultstring", "reason", "description",
        "defaultmessage",
    ]
    private static let userMessageNames = ["message", "errordescription", "detail", "title"]
    /// The names of objects that may contain the error.
    private static let innerNames = ["error", "fault", "detail"]

    private var inner: ErrorMembers? {
        Self.innerNames.lazy.compactMap { values[$0] as? [String: Any] }.first.map { ErrorMembers($0, status: status) }
    }

    private func text(_ names: [String]) -> String? { names.lazy.compactMap { (values[$0] as? String)?.nonblank }.first }

    /// The message about the request as a whole, and its number.
    var summary: (message: String, number: String?)? { message.map { ($0, number) } ?? inner?.summary }

    private var message: String? {
        let error = (values["error"] as? String)?.nonblank
        guard let text = text(Self.textNames) else { return error }
        // OAuth has a code beside its message.
        let prefix = error.flatMap { $0.isCode && $0 != text ? "\($0): " : nil } ?? ""
        return prefix + prefixedWithField(text, Self.fieldNames)
    }

    var userMessage: String? {
        text(Self.userMessageNames) ?? inner?.userMessage
            ?? ((values["errors"] as? [Any])?.first ?? elements.first).flatMap {
                ErrorMembers($0, status: status).text(Self.userMessageNames)
            }
    }

    /// The code, if there is no message.
    var code: String? {
        ["code", "errorcode", "issue", "status", "type"].lazy.compactMap { (values[$0] as? String)?.nonblank }.first { $0.isCode }
            ?? inner?.code ?? number
    }

    /// A number that is not the status.
    private var number: String? {
        ["code", "errorcode", "errno"].lazy.compactMap { name -> String? in
            if let text = values[name] as? String { return Int(text).map { _ in text } }
            return (values[name] as? Int).map(String.init)
        }.first { $0 != "\(status)" && Int($0) != 0 && $0.utf8.count <= 7 }
    }

    // MARK: - The parts

    private static let detailNames = [
        "errormessages", "errors", "error", "message", "detail", "details", "violations", "fieldviolations", "errorcauses", "invalidparams",
    ]
    private static let fieldNames = ["field", "param", "parameter"]
    private static let fieldNamesOfParts =
        fieldNames + ["propertypath", "property", "attribute", "pointer", "loc", "path", "source", "key", "name"]
    /// Names that stand for no field.
    private static let wholeNames: Set<String> = ["errors", "nonfielderrors", "base", "general", "all"]

    /// The messages about parts of the request, as far as they are needed. No value is read twice, because each may be as deep as a decoder
    /// allows.
    func details() -> [String] {
        if !elements.isEmpty { return lines(of: elements) }
        let own = Self.detailNames.firstLines { name in
            switch values[name] {
            case let list as [Any]: lines(of: list)
            // An `error` or a `detail` that is an object is the inner error, and an `error` that is a text is the message.
            case let fields as [String: Any] where !Self.innerNames.contains(name): lines(ofFields: fields)
            case let text as String where name.hasPrefix("error") && name != "error": lines(of: text)
            default: []
            }
        }
        let found = own + (inner?.details() ?? [])
        if !found.isEmpty || message != nil { return found }
        // Rails and Django may have the fields at the top level.
        let mapsFields = !object.isEmpty && object.values.allSatisfy { ($0 as? [String])?.isEmpty == false }
        return mapsFields ? lines(ofFields: object) : []
    }

    /// The lines about an object whose names are those of fields.
    private func lines(ofFields fields: [String: Any], in field: String? = nil) -> [String] {
        fields.sorted { $0.key < $1.key }.firstLines { name, value in
            let steps = [field, Self.wholeNames.contains(name.plainName) ? nil : name].compactMap { $0 }
            return lines(of: value, in: steps.isEmpty ? nil : steps.path, mapsFields: true)
        }
    }

    private func lines(of value: Any, in field: String? = nil, mapsFields: Bool = false) -> [String] {
        switch value {
        case let text as String: return text.nonblank.map { text in [field.map { "\($0): \(text)" } ?? text] } ?? []
        case let list as [Any]: return list.firstLines { lines(of: $0, in: field) }
        case let object as [String: Any]:
            let part = ErrorMembers(object, status: status)
            if let text = part.text(Self.textNames) {
                let numbered = part.number.map { "\(text.withoutFullStop) (\($0))" } ?? text
                return [part.prefixedWithField(numbered, Self.fieldNamesOfParts, or: field)]
            }
            if mapsFields { return lines(ofFields: object, in: field) }
            let inner = part.details()
            if !inner.isEmpty { return inner }
            return part.code.map { code in [(part.field(Self.fieldNamesOfParts) ?? field).map { "\($0) \(code)" } ?? code] } ?? []
        default: return []
        }
    }

    /// The text after the name of its field: `price: must be positive`.
    private func prefixedWithField(_ text: String, _ names: [String], or other: String? = nil) -> String {
        guard let field = field(names) ?? other, !text.hasPrefix("\(field):") else { return text }
        return "\(field): \(text)"
    }

    /// The name of the field that this is about: `items[0].price` for `["body", "items", 0, "price"]` and `/data/attributes/items/0/price`.
    private func field(_ names: [String]) -> String? {
        for name in names {
            let steps: [String]
            switch values[name] {
            case let text as String where text.hasPrefix("/"):
                // A path from the root is a pointer into the body, or else the path of the request.
                if name == "path" { continue }
                steps = text.split(separator: "/").map(String.init)
            case let text as String: steps = text.nonblank.map { [$0] } ?? []
            case let list as [Any]: steps = list.map { "\($0)" }
            case let source as [String: Any]:
                // The `source` of JSON:API.
                if let field = ErrorMembers(source, status: status).field(["pointer", "parameter"]) { return field }
                continue
            default: continue
            }
            let roots: Set = ["body", "query", "path", "header", "cookie", "data", "attributes", "relationships"]
            let rest = steps.count > 1 ? steps.drop { roots.contains($0) } : steps[...]
            if !rest.isEmpty { return rest.path }
        }
        return nil
    }
}

extension Sequence {
    /// The lines about as many elements as are needed. Each is read once, which a lazy collection does not promise.
    fileprivate func firstLines(_ lines: (Element) -> [String]) -> [String] {
        var found: [String] = []
        for element in self {
            found += lines(element)
            if found.count >= 6 { break }
        }
        return found
    }
}

extension Collection<String> {
    /// `items[0].price`
    fileprivate var path: String {
        reduce(into: "") { $0 += Int($1) != nil && !$0.isEmpty ? "[\($1)]" : $0.isEmpty ? $1 : ".\($1)" }
    }
}

extension String {
    /// `errormessage` for `error_message` and `errorMessage`.
    fileprivate var plainName: String { lowercased().filter { $0 != "_" && $0 != "-" } }

    /// The text, unless it is blank.
    fileprivate var nonblank: String? { allSatisfy(\.isWhitespace) ? nil : self }

    /// Whether it is a code such as `invalid_grant`, and neither a message nor a URL.
    var isCode: Bool { utf8.count <= 60 && !contains { $0.isWhitespace || "/:<{".contains($0) } }
}
