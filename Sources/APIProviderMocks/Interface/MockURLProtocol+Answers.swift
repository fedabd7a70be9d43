import APIProvider
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// One answer for all requests. On `MockURLProtocol`, these members use the current task's scope, or else the process's. On the class
// `current`, they use that class's scope, from any thread.
extension MockURLProtocol {
    /// The answer to every request without a stub or a handler: an error or a response head.
    public enum ResponseType: Sendable {
        /// An error instead of a response.
        case error(any Error)
        /// A response with ``MockURLProtocol/dto`` as the body.
        case success(HTTPURLResponse)
    }

    /// The default error of ``responseWithFailure(_:)``.
    public enum MockError: Error {
        /// An error without a special meaning.
        case none
    }

    // MARK: - The answer

    /// The answer to every request, unless a stub or ``requestHandler`` answers.
    public static var responseType: ResponseType? {
        get {
            switch defaultAnswer.response {
            case .failure(let error): .error(error)
            case .success(let response): .success(response)
            case nil: nil
            }
        }
        set {
            set(\.response, newValue?.result, named: newValue == nil ? nil : "a responseType")
        }
    }

    /// The fixture for every answer's body. The status is 200, unless ``responseType`` sets another.
    public static var dto: (any MockDTO)? {
        get { defaultAnswer.dto }
        set {
            set(\.dto, newValue, named: newValue.map { "the fixture \"\($0.fileName)\"" })
        }
    }

    /// Makes the answer to every request without a stub. If the handler throws, the request fails with that error.
    ///
    /// The handler runs on a background queue in its scope, and may send requests and change the mock.
    public static var requestHandler: (@Sendable (URLRequest) throws -> (HTTPURLResponse, Data))? {
        get { defaultAnswer.requestHandler }
        set {
            let context = newValue == nil ? nil : TaskLocalContext.current
            // Released after unlocking, because a deinit may run any code.
            _ = scope.setUp(newValue == nil ? nil : "a requestHandler") { contents in
                (
                    exchange(&contents.defaultAnswer.handlerContext, with: context),
                    exchange(&contents.defaultAnswer.requestHandler, with: newValue)
                )
            }
        }
    }

    /// Makes every request fail with `error`. See ``StubResponse/failure(_:)``.
    public static func responseWithFailure(_ error: any Error = MockError.none) {
        responseType = .error(error)
    }

    /// Answers every request with the status `code`, the header fields `headerFields`, and ``dto`` as the body.
    public static func responseWithStatusCode(code: Int, headerFields: [String: String]? = nil) {
        do {
            responseType = .success(try .mock(code, headers: headerFields, for: .any))
        } catch {
            responseType = .error(error)
        }
    }

    /// Answers every request with this fixture as the body.
    public static func responseWithDTO(type fixture: some MockDTO) {
        dto = fixture
    }

    // MARK: - Starting anew

    /// Removes all answers, stubs, recordings and received requests, and sets ``encoder`` and ``baseURL`` to `nil`.
    ///
    /// Outside of every scope, as in XCTest, this call also ends a test: a later request for an earlier subscription, such as a retry,
    /// fails, and takes none of the next test's answers.
    public static func reset() {
        let scope = scope
        var old = Scope.Contents()
        if scope === Scope.process { old.currentTestStart = .now() }
        scope.contents.withLock {
            (old.limit, old.isEnded, old.hiddenNames) = ($0.limit, $0.isEnded, $0.hiddenNames)
            swap(&$0, &old)
        }
    }

    private static var defaultAnswer: DefaultAnswer { scope.contents.withLock(\.defaultAnswer) }

    private static func set<Value>(
        _ property: WritableKeyPath<DefaultAnswer, Value>, _ value: Value, named name: @autoclosure () -> String?
    ) {
        // Released after unlocking, because a deinit may run any code.
        _ = scope.setUp(name()) { exchange(&$0.defaultAnswer[keyPath: property], with: value) }
    }
}

extension MockURLProtocol.ResponseType {
    fileprivate var result: Result<HTTPURLResponse, any Error> {
        switch self {
        case .error(let error): .failure(error)
        case .success(let response): .success(response)
        }
    }
}
