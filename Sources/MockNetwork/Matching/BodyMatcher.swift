public import APIProvider
public import Foundation

/// The body that a stub expects.
public struct BodyMatcher: Sendable {
    let matches: @Sendable (Data) -> Bool
    /// The difference between the expectation and `body`, which does not match.
    let explain: @Sendable (_ body: Data) -> Difference
    /// The reason why no body matches. Otherwise `nil`.
    private(set) var problem: String?
    /// The expectation, beside the URL in the name of a stub: which GraphQL operation it answers. Otherwise `nil`.
    private(set) var summary: String?
    /// How much of the expectation a body that does not match meets, from 0 to 1.
    private(set) var similarity: @Sendable (_ body: Data) -> Double = { _ in 0 }
    /// Whether it is a closure of the test.
    private(set) var isClosure = false

    // MARK: - JSON

    /// Matches JSON that contains `value`, whose members have several types.
    public static func json(containing value: JSONValue) -> BodyMatcher { json(Result { try value.data }, isSubset: true) }

    /// Matches JSON with the same meaning as `value`, whose members have several types: `.json(["title": "Moin", "priority": 1])`.
    public static func json(_ value: JSONValue) -> BodyMatcher { json(Result { try value.data }) }

    /// Matches JSON with the same meaning as the JSON in `text`: `.json(text: #"{"id": 1, "tags": ["a", null]}"#)`.
    public static func json(text: String) -> BodyMatcher { json(.success(Data(text.utf8))) }

    static func json(_ expected: Result<Data, any Error>, isSubset: Bool = false) -> BodyMatcher {
        let tree = try? JSONTree(expected.get())
        @Sendable func compared(_ body: JSONTree?, with tree: JSONTree?) -> JSONTree? { isSubset ? body?.trimmed(to: tree) : body }
        var matcher = BodyMatcher {
            tree != nil && tree == compared(try? JSONTree($0), with: tree)
        } explain: { body in
            guard let text = try? expected.get() else {
                return Difference(expected: "JSON, but its value cannot be encoded", actual: body.redacted)
            }
            guard let tree else {
                return Difference(expected: "\(text.redacted) (this is not JSON, or is nested too deeply)", actual: body.redacted)
            }
            let actual = try? JSONTree(body)
            let redacted = [text, body].map { try? JSONTree(Data((ReportRedactor.standard.redactedText(of: $0) ?? "").utf8)) }
            let differences = JSONTree.differences(
                of: (tree, compared(actual, with: tree)), redacted: (redacted[0], compared(redacted[1], with: redacted[0])), limit: 4)
            let differsOnlyInKeySpelling = tree.normalizingKeys == compared(actual?.normalizingKeys, with: tree.normalizingKeys)
            return (Difference(differences) ?? Difference(expected: text, actual: body)).adding(
                differsOnlyInKeySpelling ? spellingHint : "")
        }
        matcher.similarity = { body in
            guard let tree, let body = try? JSONTree(body) else { return 0 }
            return body.matchingShare(of: tree)
        }
        if isSubset, let text = try? expected.get().redacted { matcher.summary = text.cut(to: 80) }
        if case .failure(let error) = expected { matcher.problem = "its body cannot be encoded: \(error.explanation)" }
        return matcher
    }

    private static let spellingHint =
        " (only the keys are spelled differently: for those of a type, set MockURLProtocol.encoder to the encoder of the app)"

    // MARK: - Forms, bytes and text

    /// Matches a form (`application/x-www-form-urlencoded`) with exactly these parameters. The order matters among parameters of the same
    /// name.
    public static func form(_ parameters: QueryParameters) -> BodyMatcher { form(parameters, isSubset: false) }

    /// Matches a form that contains these parameters. It may have parameters of other names.
    public static func form(containing parameters: QueryParameters) -> BodyMatcher { form(parameters, isSubset: true) }

    private static func form(_ parameters: QueryParameters, isSubset: Bool) -> BodyMatcher {
        let expected = Array(parameters)
        @Sendable func items(_ body: Data) -> [URLQueryItem] {
            let all = [URLQueryItem](form: String(decoding: body, as: UTF8.self))
            return isSubset ? all.filter { item in expected.contains { $0.name.hasSameBytes(as: item.name) } } : all
        }
        return BodyMatcher {
            items($0).byName == expected.byName
        } explain: { body in
            let actual = items(body)
            let isForm = actual.contains { expected.names.contains($0.name) }
            return Difference(
                expected: isForm ? expected.differing(from: actual) : expected.redacted,
                actual: isForm ? actual.differing(from: expected, mark: " (differs, but is not shown)") : body.redacted)
        }
    }

    /// Matches exactly the bytes of `data`.
    public static func data(_ data: Data) -> BodyMatcher {
        BodyMatcher {
            $0 == data
        } explain: {
            Difference(expected: data, actual: $0)
        }
    }

    /// Matches the same parts of a `multipart/form-data` body. The boundary, which is random, is not compared.
    static func multipart(_ expected: Data) -> BodyMatcher {
        BodyMatcher {
            expected.withBoundary(of: $0) == $0
        } explain: {
            Difference(expected: expected.withBoundary(of: $0), actual: $0)
        }
    }

    /// Matches a body that contains `text` in UTF-8.
    public static func contains(_ text: String) -> BodyMatcher {
        let bytes = Data(text.utf8)
        return BodyMatcher {
            bytes.isEmpty || $0.range(of: bytes) != nil
        } explain: {
            Difference(expected: "text with \"\(ReportRedactor.standard.redactedText(of: bytes) ?? "")\"", actual: $0.redacted)
        }
    }

    /// Matches a body for which `matches` returns `true`.
    ///
    /// - Parameters:
    ///   - description: The name of the expectation in reports.
    ///   - matches: Called on any thread, at most once for a request. It must not send requests; ``StubResponse/handler(_:)``
    ///     may.
    public static func matching(
        _ description: String = "a condition", _ matches: @escaping @Sendable (Data) -> Bool
    ) -> BodyMatcher {
        let context = TaskLocalContext.current
        var matcher = BodyMatcher { body in
            context.call { matches(body) }
        } explain: {
            Difference(expected: description, actual: $0.redacted)
        }
        matcher.isClosure = true
        return matcher
    }
}

// MARK: - Text for reports

extension Data {
    /// The beginning, on one line and without secrets.
    var redacted: String {
        guard !isEmpty else { return "no body" }
        guard let text = ReportRedactor.standard.redactedText(of: self) else { return "\(count) bytes that are not text" }
        let line = text.prefix(1024).split(whereSeparator: \.isNewline).joined(separator: " ")
        return line.count > 200 ? "\(line.prefix(200))…" : line
    }
}

// MARK: - Multipart bodies and forms

extension Data {
    /// These parts of a `multipart/form-data` body, with the boundary of `other`.
    func withBoundary(of other: Data) -> Data {
        guard let (old, new) = boundary.flatMap({ old in other.boundary.map { (old, $0) } }) else { return self }
        var (result, rest) = (Data(), self[...])
        while let range = rest.range(of: old) {
            result += rest[..<range.lowerBound] + new
            rest = rest[range.upperBound...]
        }
        return result + rest
    }

    /// The first line of a `multipart/form-data` body, which has the boundary. In a body without parts, it also has the closing hyphens.
    private var boundary: Data? {
        guard starts(with: Data("--".utf8)), let end = range(of: Data("\r\n".utf8)) else { return nil }
        let line = self[..<end.lowerBound]
        return count == end.upperBound - startIndex ? line.dropLast(2) : line
    }
}

extension [URLQueryItem] {
    var byName: [ByteString: [ByteString]] {
        Dictionary(grouping: self) { ByteString($0.name) }.mapValues { $0.map { ByteString($0.value ?? "") } }
    }

    /// The items whose names have different values in `others`, as text.
    ///
    /// - Parameter mark: Added after an item that looks like one of `others`, because what differs is hidden.
    func differing(from others: [URLQueryItem], mark: String = "") -> String {
        let (values, otherValues) = (byName, others.byName)
        let items = filter { values[ByteString($0.name)] != otherValues[ByteString($0.name)] }
        let texts = Set(others.map { [$0].redacted })
        guard !items.isEmpty else { return "nothing more" }
        return items.map { item in
            let text = [item].redacted
            return item.isSecret && texts.contains(text) ? text + mark : text
        }.joined(separator: "&")
    }

    /// Each name once, in order.
    var names: [String] {
        map(\.name).reduce(into: []) { names, name in if !names.contains(where: name.hasSameBytes) { names.append(name) } }
    }

    /// The items with secrets masked.
    var redacted: String { map { "\(ReportRedactor.standard.itemName($0.name))=\($0.redactedValue)" }.joined(separator: "&") }
}

extension URLQueryItem {
    /// The value with secrets masked. In a URL or JSON, only the secrets within it are.
    var redactedValue: String { ReportRedactor.standard.item(name, value ?? "") }

    /// Whether there is a secret in it.
    var isSecret: Bool { redactedValue != value ?? "" || ReportRedactor.standard.itemName(name) != name }
}
