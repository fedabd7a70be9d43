public import Foundation

// Spellings from other libraries. Each is unavailable, so the compiler says what to write instead.

extension Endpoint where Response: Decodable {
    /// Not available: write the path as a literal, or as `RequestPath(path)`.
    @available(*, unavailable, message: "write the path as a literal, or a variable as RequestPath(path), which escapes it, or .url(url)")
    public init<Path: StringProtocol>(
        _ method: HTTPMethod, _ path: Path, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) { preconditionFailure("unavailable") }

    /// Not available: write a whole URL as `.url(url)`.
    @available(*, unavailable, message: "write a whole URL as .url(url)")
    public init(
        _ method: HTTPMethod, _ path: URL, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) { preconditionFailure("unavailable") }
}

extension Endpoint where Response == Void {
    /// Not available: write the path as a literal, or as `RequestPath(path)`.
    @available(*, unavailable, message: "write the path as a literal, or a variable as RequestPath(path), which escapes it, or .url(url)")
    public init<Path: StringProtocol>(
        _ method: HTTPMethod, _ path: Path, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) { preconditionFailure("unavailable") }

    /// Not available: write a whole URL as `.url(url)`.
    @available(*, unavailable, message: "write a whole URL as .url(url)")
    public init(
        _ method: HTTPMethod, _ path: URL, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) { preconditionFailure("unavailable") }
}

extension Endpoint {
    /// Not available: make the response `Decodable`, or say how to read it.
    @available(*, unavailable, message: "make the type of the response Decodable, or say how to read it with decode:")
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) { preconditionFailure("unavailable") }

    /// Not available: write which kind of body it is.
    @available(*, unavailable, message: "write what kind of body it is: .json(value), .form([…]) or .data(data, contentType: …)")
    public init<Body: Encodable>(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: Body,
        timeoutInterval: TimeInterval? = nil
    ) { preconditionFailure("unavailable") }

    /// Not available: make headers of the dictionary.
    @available(*, unavailable, message: "write HTTPHeaders(dictionary)")
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: [String: String], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) { preconditionFailure("unavailable") }

    /// Not available: make parameters of the dictionary.
    @available(*, unavailable, message: "write QueryParameters(dictionary)")
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: [String: String], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) { preconditionFailure("unavailable") }

    /// Not available: parameters are a query or a body.
    @available(*, unavailable, message: "parameters go into query:, or into a body: .json(…) or .form(…)")
    public init(_ method: HTTPMethod, _ path: RequestPath, parameters: Any?, headers: HTTPHeaders = [:]) {
        preconditionFailure("unavailable")
    }

    /// Not available: the label is `timeoutInterval`.
    @available(*, unavailable, message: "the label is timeoutInterval:")
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeout: TimeInterval?
    ) { preconditionFailure("unavailable") }
}

extension HTTPBody {
    /// Not available: values of several types need a struct.
    @available(*, unavailable, message: "values of several types need an Encodable struct: .json(Order(id: 1, name: \"x\"))")
    public static func json(_ value: [String: Any], encoder: JSONEncoder? = nil) -> HTTPBody { preconditionFailure("unavailable") }
}
