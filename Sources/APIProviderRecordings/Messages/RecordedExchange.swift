public import APIProvider
public import Foundation

/// A recording's request and response, before they are written.
///
/// A recording's parameter `editing` changes the exchange in the file, and not the test's response.
public struct RecordedExchange: Sendable {
    /// The response to a request.
    public struct Response: Sendable {
        /// The status code.
        public var statusCode: Int
        /// The header fields. A comma joins fields with one name.
        public var headers: HTTPHeaders
        /// The body, decompressed.
        public var body: Data

        var type: String { headers["Content-Type"] ?? "" }
    }

    /// The method, such as `GET`.
    public var method: String
    /// The sent URL, without a fragment.
    public var url: String
    /// The header fields. Only those for comparison are written.
    public var headers: HTTPHeaders = [:]
    /// The body; empty without one.
    public var body = Data()
    /// The response; `nil` for a failed request, or if the app no longer waited.
    public var response: Response?

    /// Whether the file leaves out the exchange.
    @_spi(Serving) public var isLeftOut = false

    /// The reason for a missing or incomplete response.
    var failure: String?
    var started = Date()
    /// The positions of the request and of the response's end among a recording's events.
    var order = (begin: 0, end: 0)
    /// The program's secrets.
    var markedSecrets: [String] = []

    /// The app left: a replay delivers the received part, and then nothing.
    static let left = "the app left"

    init(method: String, url: String) { (self.method, self.url) = (method, url) }

    var type: String { headers["Content-Type"] ?? "" }

    /// The method, and the URL without user, query and fragment.
    var summary: String {
        let text = URIReference(url)
        return "\(method) \(text.scheme.map { "\($0)://\(text.hostAndPort)" } ?? "")\(text.path)"
    }
}

extension RecordedExchange {
    init(_ request: PreparedRequest) {
        self.init(method: request.method.rawValue, url: String(request.url.absoluteString.prefix { $0 != "#" }))
        (headers, markedSecrets) = (request.headers, request.secrets.hiddenTexts.sorted())
        // An unreadable body was not sent, either.
        body = (try? request.body?.data()) ?? Data()
    }
}

// MARK: - Failures

private let prefix = "URLError "

extension Error {
    /// The reason for a file, as text without secrets: `URLError -1001`, or the name of another error's type.
    var recordedReason: String {
        let error = (self as? APIError)?.urlError ?? (self as? APIError)?.underlying ?? self
        return (error as? URLError).map { "\(prefix)\($0.code.rawValue)" } ?? "\(type(of: error))"
    }
}

extension URLError {
    /// The error in a replay. The reason may be a browser's.
    init(recordedReason reason: String) {
        let number = reason.hasPrefix(prefix) ? Int(reason.dropFirst(prefix.count)) : nil
        let code = number.flatMap { Code(rawValue: $0) as Code? } ?? .unknown
        let userInfo = code == .unknown ? [NSLocalizedDescriptionKey: "there was no response when this was recorded: \(reason)"] : [:]
        self.init(code, userInfo: userInfo)
    }
}
