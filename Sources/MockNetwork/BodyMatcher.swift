public import APIProvider
public import Foundation

/// The body that a stub expects.
public struct BodyMatcher: Sendable {
    let matches: @Sendable (Data) -> Bool
    /// The text of the expectation, and of `body`.
    let explain: @Sendable (_ body: Data) -> (expected: String, actual: String)

    /// Matches JSON with the same meaning as `value`. The order of keys, white space, and the notation of numbers do not matter.
    ///
    /// A `String` matches a JSON string; to match JSON text, use ``json(text:)``. For values of several types, write an `Encodable` struct.
    /// JSON that is nested more than 100 levels deep matches nothing.
    public static func json(_ value: some Encodable) -> BodyMatcher {
        json(Result { try JSONEncoder.sorting.encode(value) })
    }

    /// Matches JSON with the same meaning as the JSON in `text`: `.json(text: #"{"id": 1, "tags": ["a", null]}"#)`.
    public static func json(text: String) -> BodyMatcher { json(.success(Data(text.utf8))) }

    private static func json(_ expected: Result<Data, any Error>) -> BodyMatcher {
        let tree = try? JSONTree(expected.get())
        return BodyMatcher {
            tree != nil && tree == (try? JSONTree($0))
        } explain: { body in
            guard let text = try? expected.get() else { return ("JSON, but its value cannot be encoded", body.shown) }
            guard let tree, let actual = try? JSONTree(body) else { return (text.shown, body.shown) }
            let shown = [text, body].map { try? JSONTree(Redactor.report.body($0, contentType: nil)) }
            return tree.firstDifference(to: actual, shown: shown[0], otherShown: shown[1]) ?? (text.shown, body.shown)
        }
    }

    /// Matches a form (`application/x-www-form-urlencoded`) with exactly these parameters. The order matters among parameters of the same
    /// name.
    public static func form(_ parameters: QueryParameters) -> BodyMatcher {
        let expected = Array(parameters)
        return BodyMatcher {
            [URLQueryItem](form: $0).byName == expected.byName
        } explain: {
            (expected.shown, $0.shown)
        }
    }

    /// Matches exactly these bytes.
    public static func data(_ data: Data) -> BodyMatcher {
        BodyMatcher {
            $0 == data
        } explain: {
            (data.shown, $0.shown)
        }
    }

    /// Matches a body that contains `text` in UTF-8.
    public static func contains(_ text: String) -> BodyMatcher {
        let bytes = Data(text.utf8)
        return BodyMatcher {
            bytes.isEmpty || $0.range(of: bytes) != nil
        } explain: {
            ("text with \"\(Redactor.report.text(text))\"", $0.shown)
        }
    }

    /// Matches a body for which `matches` returns `true`.
    ///
    /// - Parameters:
    ///   - description: The name of the expectation in reports.
    ///   - matches: Called on any thread, and maybe more than once for a request. It must not send requests; ``StubResponse/handler(_:)``
    ///     may.
    public static func matching(
        _ description: String = "a condition", _ matches: @escaping @Sendable (Data) -> Bool
    ) -> BodyMatcher {
        BodyMatcher(matches: matches) { (description, $0.shown) }
    }
}

extension Data {
    /// The beginning, on one line and without secrets.
    var shown: String {
        guard !isEmpty else { return "no body" }
        guard let text = String(utf8PrefixOf: self, maximum: 1024) else { return "\(count) bytes that are no text" }
        let line = Redactor.report.text(text, isCut: count > 1024).split(whereSeparator: \.isNewline).joined(separator: " ")
        return line.count > 200 || count > 1024 ? "\(line.prefix(200))…" : line
    }
}

extension [URLQueryItem] {
    init(form body: Data) {
        self = String(decoding: body, as: UTF8.self).split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            return URLQueryItem(name: name.formDecoded, value: item[name.endIndex...].dropFirst().formDecoded)
        }
    }

    fileprivate var byName: [Bytes: [Bytes]] {
        Dictionary(grouping: self) { Bytes($0.name) }.mapValues { $0.map { Bytes($0.value ?? "") } }
    }

    /// Each name once, in order.
    var names: [String] { map(\.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }

    /// The items with secrets masked.
    var shown: String { map { "\(Redactor.report.text($0.name))=\($0.shownValue)" }.joined(separator: "&") }
}

extension URLQueryItem {
    /// The value with secrets masked, also those of a URL or of JSON that it is.
    var shownValue: String { Redactor.report.parameter(name, value ?? "") }

    /// Whether there is a secret in it.
    var isSecret: Bool { shownValue != value || Redactor.report.text(name) != name }
}

extension Substring {
    fileprivate var formDecoded: String {
        let text = replacingOccurrences(of: "+", with: " ")
        return text.removingPercentEncoding ?? text
    }
}
