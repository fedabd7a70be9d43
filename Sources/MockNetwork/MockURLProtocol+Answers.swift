public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// One answer for all requests. On `MockURLProtocol`, these act on the scope of the current task, or on that of the process. On the class
// from `current`, they act on its scope, on any thread.
extension MockURLProtocol {
    /// The answer to every request.
    public enum ResponseType: Sendable {
        /// An error instead of a response.
        case error(any Error)
        /// A response, with the content of ``MockURLProtocol/dto`` as its body.
        case success(HTTPURLResponse)
    }

    /// The default error of ``responseWithFailure(_:)``.
    public enum MockError: Error {
        /// An error without a special meaning.
        case none
    }

    /// The answer to every request, unless a stub or ``requestHandler`` answers it.
    public static var responseType: ResponseType? {
        get { scope.state.withLock(\.responseType) }
        set { set(\.responseType, newValue) }
    }

    /// The fixture that is the body of every answer. The status is 200, unless ``responseType`` has another.
    public static var dto: (any MockDTO)? {
        get { scope.state.withLock(\.dto) }
        set { set(\.dto, newValue) }
    }

    /// Makes the answer to every request that no stub answers. If it throws, the request fails with that error.
    ///
    /// It runs on a background queue in its own scope. It may send requests and change the mock.
    public static var requestHandler: (@Sendable (URLRequest) throws -> (HTTPURLResponse, Data))? {
        get { scope.state.withLock(\.requestHandler) }
        set { set(\.requestHandler, newValue) }
    }

    /// Makes every request fail with `error`. See ``StubResponse/failure(_:)``.
    public static func responseWithFailure(_ error: any Error = MockError.none) {
        responseType = .error(error)
    }

    /// Answers every request with the status `code`, and with ``dto`` as the body.
    public static func responseWithStatusCode(code: Int, headerFields: [String: String]? = nil) {
        do {
            responseType = .success(try .mock(code, headers: headerFields))
        } catch {
            responseType = .error(error)
        }
    }

    /// Answers every request with the fixture `type` as its body.
    public static func responseWithDTO(type: some MockDTO) {
        dto = type
    }

    /// Removes all answers, stubs and recorded requests.
    public static func reset() {
        var state = Scope.State()
        scope.state.withLock { swap(&$0, &state) }
    }

    private static func set<Value>(_ property: WritableKeyPath<Scope.State, Value>, _ value: Value) {
        var value = value
        // The old value is released after the lock, because its deinit may run any code.
        scope.state.withLock { swap(&$0[keyPath: property], &value) }
    }
}
