package import Dispatch
public import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Logs each request when it ends, without secrets. See ``Redaction``.
///
/// ```
/// GET https://api.github.com/search/repositories?q=…: 200 OK, 812 bytes, 34 ms
/// GET https://api.github.com/user failed: it timed out; is api.github.com:443 up, and is the timeout long enough? (URLError -1001). 60012
/// ms GET https://api.github.com/user: cancelled, 12 ms
/// ```
///
/// If a request has the option ``RequestOptions/name``, the log shows the name: `user(login:): 200 OK, 812 bytes, 34 ms`.
///
/// As the last middleware, it logs each attempt on a line. As the first, it logs what the caller gets.
public struct LoggingMiddleware: Middleware {
    /// The amount of detail.
    public enum Detail: Sendable {
        /// One line for each request.
        case line
        /// The line, followed by the headers and the beginning of the bodies. They are indented, with `>` for the request and `<` for the
        /// response.
        case bodies
    }

    private let detail: Detail
    private let redactor: Redactor
    private let now: @Sendable () -> DispatchTime
    private let log: @Sendable (String) -> Void

    /// Creates a middleware that logs with `detail`.
    ///
    /// - Parameters:
    ///   - detail: The amount of detail.
    ///   - redaction: The secrets to leave out. Values of a URL's query are also left out, unless it is ``Redaction/none``.
    ///   - log: Gets the text for one request, without a line break at its end. It is called on the thread of the event or of `dispose()`,
    ///     maybe on several threads at once. By default, the text goes to standard error in one piece.
    public init(_ detail: Detail = .line, redacting redaction: Redaction = .secrets, log: (@Sendable (String) -> Void)? = nil) {
        self.init(detail, redacting: redaction, now: { .now() }, log: log)
    }

    /// Creates a middleware with its own clock.
    package init(
        _ detail: Detail = .line, redacting redaction: Redaction = .secrets, now: @escaping @Sendable () -> DispatchTime,
        log: (@Sendable (String) -> Void)?
    ) {
        self.detail = detail
        redactor = Redactor(redaction, for: .sentence)
        self.now = now
        self.log = log ?? StandardError.print
    }

    /// Returns the response to `request`, unchanged.
    public func intercept(_ request: URLRequest, options: RequestOptions, next: @escaping Next) -> Single<APIResponse> {
        .deferred {
            let start = now().uptimeNanoseconds
            let isLogged = Locked(false)
            let end: @Sendable (SingleEvent<APIResponse>?) -> Void = { event in
                guard isLogged.withLock({ isLogged in !exchange(&isLogged, with: true) }) else { return }
                log(text(request, options.name, event, milliseconds: (now().uptimeNanoseconds - start) / 1_000_000))
            }
            return next(request).do(
                onSuccess: { end(.success($0)) }, onError: { end(.failure($0)) }, onDispose: { end(nil) })
        }
    }

    private func text(_ request: URLRequest, _ name: String?, _ event: SingleEvent<APIResponse>?, milliseconds: UInt64) -> String {
        let line = request.line(by: redactor)
        let subject = name ?? line
        let outcome: String
        var response: APIResponse?
        switch event {
        case .success(let value):
            outcome = "\(subject): \(value.statusLine), \(value.data.count) bytes, \(milliseconds) ms"
            response = value
        case .failure(let error):
            // As an APIError, it shows nothing of a URL that it holds.
            let sentence = (error as? APIError ?? .transport(request, underlying: error)).sentence(by: redactor)
            let rest = sentence.hasPrefix(line) ? String(sentence.dropFirst(line.count)) : " failed: \(sentence)"
            outcome = "\(subject)\(rest) \(milliseconds) ms"
        case nil:
            outcome = "\(subject): cancelled, \(milliseconds) ms"
        }
        let lines =
            detail == .line
            ? [] : request.details(by: redactor).map { "  > \($0)" } + (response?.details(by: redactor) ?? []).map { "  < \($0)" }
        return ([outcome] + lines).map(\.onOneLine).joined(separator: "\n")
    }
}

extension URLRequest {
    fileprivate func details(by redactor: Redactor) -> [String] {
        // More than an excerpt looks at, of however large a body.
        let body =
            bodyPrefix(8192).map { $0.excerpt(of: Int(bodyLength ?? 0), maximum: 1024, by: redactor) }
            ?? (httpBodyStream == nil ? nil : "(a stream)")
        return redactor.lines(of: allHTTPHeaderFields ?? [:]) + [body].compactMap { $0 }
    }
}

extension APIResponse {
    fileprivate func details(by redactor: Redactor) -> [String] {
        redactor.lines(of: response.headerFields) + [data.excerpt(maximum: 1024, by: redactor)].compactMap { $0 }
    }
}

extension Redactor {
    /// Header fields by their names.
    fileprivate func lines(of headers: [String: String]) -> [String] {
        headers.byName.map { "\($0): \(header($0, $1))" }
    }
}
