import APIProvider
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
        get { general.responseType }
        set { set(\.responseType, newValue) }
    }

    /// The fixture that is the body of every answer. The status is 200, unless ``responseType`` has another.
    public static var dto: (any MockDTO)? {
        get { general.dto }
        set { set(\.dto, newValue) }
    }

    /// Makes the answer to every request that no stub answers. If it throws, the request fails with that error.
    ///
    /// It runs on a background queue in its own scope. It may send requests and change the mock.
    public static var requestHandler: (@Sendable (URLRequest) throws -> (HTTPURLResponse, Data))? {
        get { general.requestHandler }
        set { set(\.requestHandler, newValue) }
    }

    /// Makes every request fail with `error`. See ``StubResponse/failure(_:)``.
    public static func responseWithFailure(_ error: any Error = MockError.none) {
        responseType = .error(error)
    }

    /// Answers every request with the status `code`, and with ``dto`` as the body.
    public static func responseWithStatusCode(code: Int, headerFields: [String: String]? = nil) {
        do {
            responseType = .success(try .mock(code, headers: headerFields, for: .any))
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
        var old = Scope.Contents()
        scope.contents.withLock { swap(&$0, &old) }
    }

    private static var general: GeneralAnswer { scope.contents.withLock(\.general) }

    private static func set<Value>(_ property: WritableKeyPath<GeneralAnswer, Value>, _ value: Value) {
        // The old value is released after the lock, because its deinit may run any code.
        _ = scope.contents.withLock { contents in
            var general = contents.general
            general[keyPath: property] = value
            return exchange(&contents.fallback, with: general)
        }
    }
}

/// One answer for all requests that no stub answers.
private struct GeneralAnswer: Fallback {
    var responseType: MockURLProtocol.ResponseType?
    var dto: (any MockDTO)?
    var requestHandler: (@Sendable (URLRequest) throws -> (HTTPURLResponse, Data))?

    var name: String? {
        requestHandler != nil ? "A requestHandler" : responseType != nil ? "A responseType" : dto.map { "The fixture \"\($0.fileName)\"" }
    }

    func maker(for request: PreparedRequest) -> AnswerMaker? {
        if let requestHandler {
            return AnswerMaker(callsUser: true) {
                let (response, body) = try requestHandler(request.urlRequestWithBody)
                return Answer(response, body, to: $0)
            }
        }
        guard responseType != nil || dto != nil else { return nil }
        return AnswerMaker {
            let head = try responseType?.head(for: $0.url) ?? .mock(200, headers: nil, for: $0.url)
            return Answer(head, try dto?.load() ?? Data(), to: $0)
        }
    }
}

extension MockURLProtocol.ResponseType {
    fileprivate func head(for url: URL) throws -> HTTPURLResponse {
        switch self {
        case .error(let error): throw error
        case .success(let response) where response.url != .any: return response
        case .success(let response):
            return try .mock(response.statusCode, headers: response.allHeaderFields as? [String: String], for: url)
        }
    }
}

extension Scope.Contents {
    fileprivate var general: GeneralAnswer { fallback as? GeneralAnswer ?? GeneralAnswer() }
}

extension URL {
    /// Stands for the URL of the request that is answered.
    fileprivate static let any = URL(fileURLWithPath: "/any")
}
