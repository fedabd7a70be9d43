public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// One answer for everything. Called on `MockURLProtocol`, these act on the scope of the current task, or on the process-wide one; called on
// the class that `current` returned, on that scope, from wherever.
extension MockURLProtocol {
    /// What every request is answered with.
    public enum ResponseType: Sendable {
        /// No response comes, but this error.
        case error(any Error)
        /// This response comes, with the content of ``MockURLProtocol/dto`` as its body.
        case success(HTTPURLResponse)
    }

    /// The error of ``responseWithFailure(_:)`` when it is given none.
    public enum MockError: Error {
        /// Nothing in particular.
        case none
    }

    /// What every request is answered with that ``requestHandler`` does not answer.
    public static var responseType: ResponseType? {
        get { scope.state.withLock(\.responseType) }
        set { set(\.responseType, newValue) }
    }

    /// The fixture that is the body of every answer. Without a ``responseType``, its status is 200.
    public static var dto: (any MockDTO)? {
        get { scope.state.withLock(\.dto) }
        set { set(\.dto, newValue) }
    }

    /// Answers every request, and may look at it. What it throws is the error that the session reports.
    ///
    /// It runs on a background queue, with its scope as the current one, and may itself send requests and change the mock.
    public static var requestHandler: (@Sendable (URLRequest) throws -> (HTTPURLResponse, Data))? {
        get { scope.state.withLock(\.requestHandler) }
        set { set(\.requestHandler, newValue) }
    }

    /// From now on every request fails with `error`. See ``StubResponse/failure(_:)``.
    public static func responseWithFailure(_ error: any Error = MockError.none) {
        responseType = .error(error)
    }

    /// From now on every request is answered with the status `code`, and with ``dto`` as the body.
    public static func responseWithStatusCode(code: Int, headerFields: [String: String]? = nil) {
        do {
            responseType = .success(try .mock(code, headers: headerFields))
        } catch {
            responseType = .error(error)
        }
    }

    /// From now on the body of every answer is the fixture `type`.
    public static func responseWithDTO(type: some MockDTO) {
        dto = type
    }

    /// Forgets every answer, every stub and every recorded request.
    public static func reset() {
        var state = Scope.State()
        scope.state.withLock { swap(&$0, &state) }
    }

    private static func set<Value>(_ property: WritableKeyPath<Scope.State, Value>, _ value: Value) {
        var value = value
        // The old value goes after the lock: its deinit may be anybody's code.
        scope.state.withLock { swap(&$0[keyPath: property], &value) }
    }
}
