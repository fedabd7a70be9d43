import APIProvider
import Foundation

extension ReceivedRequest {
    /// A call of `stub` that answers this request, without secrets.
    func stubToPaste(_ redactor: ReportRedactor) -> String {
        let path = redactor.path(URIReference(url.absoluteString).path.description)
        let parts = URLParts(url.absoluteString)
        // Without an origin, a path starting with two slashes would name a host.
        let origin = path.hasPrefix("//") ? parts.origin ?? "" : ""
        let pattern = (origin + (path.isEmpty ? "/" : path.replacingOccurrences(of: "*", with: "%2A", options: .literal).withWildcards))
            .debugDescription
        let query = Lines(parts.query)
        var places: Set<String> = []
        let items = parts.query.map(\.name).compactMap { name -> String? in
            guard places.insert(name.uniqueSpelling).inserted else { return nil }
            let values = query.texts(at: name.uniqueSpelling)
            guard values.allSatisfy({ redactor.item(name, $0) == $0 }), redactor.redacted(name) == name else { return nil }
            let texts = values.map(\.debugDescription)
            return "\(name.debugDescription): \(texts.count == 1 ? texts[0] : "[\(texts.joined(separator: ", "))]")"
        }
        let queryParameter = items.isEmpty ? "" : ", query: [\(items.joined(separator: ", "))]"
        // One URL serves all operations of a GraphQL server.
        let body = graphQLOperation(redactor).map { ", body: \($0)" } ?? ""
        return "MockURLProtocol.stub(\(method.literal), \(pattern)\(queryParameter)\(body), respond: \(responseToPaste))"
    }

    /// A response with an accepted type.
    private var responseToPaste: String {
        let types = headers["Accept"]?.lowercased() ?? ""
        if types.contains("text/event-stream") { return #".events([ServerSentEvent(data: "text")])"# }
        if types.contains("ndjson") || types.contains("jsonl") { return #".jsonLines([["key": "value"]])"# }
        return types.contains("json") ? #".json(["key": "value"])"# : ".status(200)"
    }

    /// Matches the request's GraphQL operation, by name, or else by text or the text's beginning; `nil` without an operation.
    private func graphQLOperation(_ redactor: ReportRedactor) -> String? {
        guard let lines = Lines(json: body) else { return nil }
        for name in ["operationName", "query"] {
            guard let text = lines.texts(at: name).first, name == "operationName" || text.isGraphQL else { continue }
            let shown = redactor.item(name, text)
            guard text.utf8.count > 1024 || shown != text else {
                return ".json(containing: [\(name.debugDescription): \(text.debugDescription)])"
            }
            // Up to the first text that JSON may escape.
            let beginning = shown.unicodeScalars.prefix { $0.value >= 0x20 && !"\"\\/…".unicodeScalars.contains($0) }.prefix(100)
            if !beginning.isEmpty { return ".contains(\(String(beginning).debugDescription))" }
        }
        return nil
    }
}

extension String {
    /// Whether the text is a GraphQL document and not, for example, a search text.
    fileprivate var isGraphQL: Bool {
        let text = trimmingCharacters(in: .whitespacesAndNewlines)
        return text.hasSuffix("}") && ["{", "query", "mutation", "subscription", "fragment"].contains(where: text.hasPrefix)
    }

    /// The path with a star for each secret segment.
    fileprivate var withWildcards: String {
        parts(between: UInt8(ascii: "/")).map { $0.hasScalars("…") ? "*" : $0 }.joined(separator: "/")
    }
}

extension HTTPMethod {
    fileprivate var literal: String {
        let known: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options]
        return known.contains(self) ? ".\(rawValue.lowercased())" : rawValue.debugDescription
    }
}
