public import APIProvider
public import Foundation

// Values for the current scope's encoder.
extension MockURLProtocol {
    /// The provider's encoder, for bodies and answers in this scope. Set this property before you add stubs. `nil` is the provider's
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
    /// Encodes bodies and values of an `APIRequest`, and the values of `StubResponse.json`, ``StubResponse/jsonLines(_:every:headers:)``
    /// and `BodyMatcher.json`. Do not change the encoder after setting it.
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
    /// The `Content-Type` is `application/json`, unless `headers` has another. If the value cannot be encoded, each request fails, and the
    /// test gets an issue.
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

    /// Not available: the elements of a literal are literals or a `JSONValue`.
    @available(*, unavailable, message: "write JSONValue(text) for a variable, or pass a struct")
    @_disfavoredOverload
    public static func json(_ value: [String: Any], statusCode: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        .status(statusCode)
    }

    /// A line of JSON for each of `values`, by ``MockURLProtocol/encoder`` or else with sorted keys.
    ///
    /// At a value that cannot be encoded, the connection breaks, and the test gets an issue.
    ///
    /// - Parameters:
    ///   - values: The values.
    ///   - interval: The time before each line.
    ///   - headers: The header fields. The default `Content-Type` is `application/x-ndjson`.
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
