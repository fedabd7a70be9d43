public import APIProvider
public import Foundation

// The values that the encoder of the current scope encodes.
extension MockURLProtocol {
    /// The encoder of the provider under test, for bodies and answers in this scope. Set it before you add stubs. `nil` is the provider's
    /// default.
    ///
    /// ```swift
    /// let encoder = JSONEncoder()
    /// encoder.keyEncodingStrategy = .convertToSnakeCase
    /// MockURLProtocol.encoder = encoder
    /// // This expects {"due_date": …}.
    /// MockURLProtocol.stub(CreateTask(dueDate: .now), respond: .status(201))
    /// ```
    ///
    /// It encodes the bodies and values of an `APIRequest`, and also those of `StubResponse.json`,
    /// ``StubResponse/jsonLines(_:every:headers:)`` and `BodyMatcher.json`. Do not change it afterwards.
    public static var encoder: JSONEncoder? {
        get { scope.contents.withLock(\.encoder) }
        set { _ = scope.contents.withLock { exchange(&$0.encoder, with: newValue) } }
    }

    /// Encodes a value of a stub.
    static func encode(_ value: some Encodable) throws -> Data {
        try (encoder ?? .sortingKeys).encode(value)
    }
}

extension StubResponse {
    /// The value as JSON, by ``MockURLProtocol/encoder`` or else with sorted keys.
    ///
    /// The `Content-Type` is `application/json`, unless `headers` has another. If the value cannot be encoded, each request fails, and that
    /// is an issue of the test.
    ///
    /// A `String` becomes a JSON string. For JSON text, use ``json(text:statusCode:headers:)``.
    ///
    /// - Parameters:
    ///   - value: The body.
    ///   - statusCode: The status.
    ///   - headers: The header fields.
    public static func json(_ value: some Encodable, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(statusCode: statusCode, headers: headers, type: "application/json") {
            [.data(try MockURLProtocol.encode(value))]
        }
    }

    /// A line of JSON for each of `values`, by ``MockURLProtocol/encoder`` or else with sorted keys.
    ///
    /// If a value cannot be encoded, the connection breaks in its place, and that is an issue of the test.
    ///
    /// - Parameters:
    ///   - values: The values.
    ///   - interval: The time before each line.
    ///   - headers: The header fields. The `Content-Type` is `application/x-ndjson`, unless they have another.
    public static func jsonLines(
        _ values: [some Encodable], every interval: DispatchTimeInterval = .seconds(0), headers: HTTPHeaders = [:]
    ) -> StubResponse {
        StubResponse(statusCode: 200, headers: headers, type: "application/x-ndjson", hasLength: false) {
            values.flatMap { value -> [Step] in
                do { return [.wait(interval), .data(try MockURLProtocol.encode(value) + Data("\n".utf8))] } catch {
                    return [.failure(MockFailure(encoding: error))]
                }
            }
        }
    }
}

extension BodyMatcher {
    /// Matches JSON with the same meaning as `value`. The order of keys, white space, and the notation of numbers do not matter.
    ///
    /// The value is encoded by ``MockURLProtocol/encoder``, if that is set. A value that cannot be encoded is an issue of the test. A
    /// `String` matches a JSON string; to match JSON text, use ``json(text:)``. JSON that is nested more than 100 levels deep matches
    /// nothing.
    public static func json(_ value: some Encodable) -> BodyMatcher { json(Result { try MockURLProtocol.encode(value) }) }

    /// Matches JSON that contains `value`: an object has at least these members, in any order, and so have the objects within it. Arrays
    /// and other values must be the same.
    ///
    /// ```swift
    /// // Answers one operation of a GraphQL API.
    /// MockURLProtocol.stub(
    ///     .post, "/graphql", body: .json(containing: ["operationName": "Me"]),
    ///     respond: .json(["data": ["me": ["name": "octocat"]]]))
    /// ```
    ///
    /// It is encoded as in `json(_:)`.
    public static func json(containing value: some Encodable) -> BodyMatcher {
        json(Result { try MockURLProtocol.encode(value) }, isSubset: true)
    }
}
