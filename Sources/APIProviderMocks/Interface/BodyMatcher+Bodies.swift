public import APIProvider
public import Foundation

// The kinds of expected bodies.
extension BodyMatcher {
    // MARK: - JSON

    /// Matches JSON with the same values as `value`. Key order, white space and number notation do not matter.
    ///
    /// ``MockURLProtocol/encoder`` encodes the value, if set. A value that cannot be encoded is a test issue. A `String` matches a JSON
    /// string; for JSON text, use ``json(text:)``. JSON with more than 100 levels matches nothing.
    public static func json(_ value: some Encodable) -> BodyMatcher { json(Result { try MockURLProtocol.encode(value) }) }

    /// Matches JSON that contains `value`: objects with at least these members, in any order; arrays of the same length with such elements;
    /// and equal other values.
    ///
    /// ```swift
    /// // Answers one operation of a GraphQL API.
    /// MockURLProtocol.stub(
    ///     .post, "/graphql", body: .json(containing: ["operationName": "Me"]),
    ///     respond: .json(["data": ["me": ["name": "octocat"]]]))
    /// ```
    ///
    /// The value is encoded as in `json(_:)`.
    public static func json(containing value: some Encodable) -> BodyMatcher {
        json(Result { try MockURLProtocol.encode(value) }, isSubset: true)
    }

    /// Matches JSON with the same values as `value`, with members of several types: `.json(["title": "Moin", "priority": 1])`.
    public static func json(_ value: JSONValue) -> BodyMatcher { json(Result { try value.data }) }

    /// Matches JSON that contains `value`, with members of several types.
    public static func json(containing value: JSONValue) -> BodyMatcher { json(Result { try value.data }, isSubset: true) }

    /// Matches JSON with the same values as the JSON in `text`: `.json(text: #"{"id": 1, "tags": ["a", null]}"#)`.
    public static func json(text: String) -> BodyMatcher { json(.success(Data(text.utf8))) }

    private static func json(_ expected: Result<Data, any Error>, isSubset: Bool = false) -> BodyMatcher {
        switch expected {
        case .failure(let error): BodyMatcher(expectation: .unencodable(reason: error.explanation))
        case .success(let text): BodyMatcher(text, .json, isSubset: isSubset) ?? BodyMatcher(expectation: .unreadable(text))
        }
    }

    /// Matches the lines of `text`; `nil` for a text in another notation.
    init?(_ text: Data, type: String = "", _ notation: BodyLines.Notation, isSubset: Bool = false) {
        guard let lines = BodyLines(text, type: type).lines(as: notation) else { return nil }
        self.init(expectation: .lines(lines, of: text, notation, isSubset: isSubset))
    }

    // MARK: - Forms

    /// Matches a form (`application/x-www-form-urlencoded`) with exactly these parameters. The order matters among parameters of the same
    /// name.
    public static func form(_ parameters: QueryParameters) -> BodyMatcher { form(parameters, isSubset: false) }

    /// Matches a form that contains these parameters, maybe among parameters of other names.
    public static func form(containing parameters: QueryParameters) -> BodyMatcher { form(parameters, isSubset: true) }

    private static func form(_ parameters: QueryParameters, isSubset: Bool) -> BodyMatcher {
        BodyMatcher(expectation: .lines(Lines(Array(parameters)), of: Data(), .form, isSubset: isSubset))
    }

    /// Matches a `multipart/form-data` body with such a part for each name, maybe among other parts.
    ///
    /// ```swift
    /// MockURLProtocol.stub(
    ///     .post, "/notes",
    ///     body: .multipart(containing: [
    ///         "note": .json(["title": "Moin"]), "kind": .text("draft"),
    ///     ]),
    ///     respond: .status(201))
    /// ```
    public static func multipart(containing parts: [String: BodyMatcher]) -> BodyMatcher { BodyMatcher(expectation: .parts(parts)) }

    // MARK: - Text and bytes

    /// Matches exactly `text`, in UTF-8.
    public static func text(_ text: String) -> BodyMatcher { data(Data(text.utf8)) }

    /// Matches exactly the bytes in `data`.
    public static func data(_ data: Data) -> BodyMatcher { BodyMatcher(expectation: .bytes(data)) }

    /// Matches a body that contains `text` in UTF-8.
    public static func contains(_ text: String) -> BodyMatcher { BodyMatcher(expectation: .text(containing: Data(text.utf8))) }

    /// Matches a body by a condition.
    ///
    /// - Parameters:
    ///   - description: The expectation's name in reports.
    ///   - matches: Called on any thread, at most once for a request. Must not send requests; ``StubResponse/handler(_:)`` may.
    public static func matching(
        _ description: String = "a condition", _ matches: @escaping @Sendable (Data) -> Bool
    ) -> BodyMatcher {
        BodyMatcher(expectation: .condition(Condition(description, matches)))
    }
}

// MARK: - Literals that are not JSON

extension BodyMatcher {
    /// Not available: the elements of a literal are literals or a `JSONValue`.
    @available(*, unavailable, message: "write JSONValue(text) for a variable, or pass a struct")
    @_disfavoredOverload public static func json(_ value: [String: Any]) -> BodyMatcher { .data(Data()) }

    /// Not available: the elements of a literal are literals or a `JSONValue`.
    @available(*, unavailable, message: "write JSONValue(text) for a variable, or pass a struct")
    @_disfavoredOverload public static func json(containing value: [String: Any]) -> BodyMatcher { .data(Data()) }
}
