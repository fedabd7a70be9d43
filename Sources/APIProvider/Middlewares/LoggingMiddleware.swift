package import Dispatch
import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(os)
import os
#endif

/// Logs each request at the end, redacted by a ``Redaction``.
///
/// ```
/// GET https://api.github.com/search/repositories?q=…: 200 OK, 812 bytes, 34 ms
/// GET https://example.com/user failed: it timed out; is example.com:443 up, and is the timeout long enough? (URLError -1001). 60012 ms
/// GET https://api.github.com/user: cancelled, 12 ms
/// ```
///
/// For a request with the option ``RequestOptions/name``, the log shows the name: `user(login:): 200 OK, 812 bytes, 34 ms`.
///
/// The last middleware logs each attempt on a line. The first logs the caller's result.
///
/// ### Reading the log
///
/// On Apple's systems, the lines go to the unified log: filter for the category `network` in Xcode or in Console. The subsystem is the
/// app's bundle identifier. Failures and statuses of 400 or more use the error level; everything else uses debug. Elsewhere, the lines go
/// to standard error, which an app on Android does not see: pass a `log` of your own there.
public struct LoggingMiddleware: Middleware {
    /// The amount of detail.
    public struct Detail: Sendable, Hashable {
        private enum Kind { case line, bodies }

        private let kind: Kind

        /// One line for each request.
        public static let line = Detail(kind: .line)
        /// The line, followed by the indented headers and bodies, with `>` for the request and `<` for the response.
        ///
        /// ``Redaction/standard`` shows only a body's type and size. To see the beginning of bodies while you develop, write
        /// `LoggingMiddleware(.bodies, redacting: .none)`.
        public static let bodies = Detail(kind: .bodies)
    }

    private let detail: Detail
    private let redaction: Redaction
    private let now: @Sendable () -> DispatchTime
    private let log: @Sendable (_ text: String, _ isFailure: Bool) -> Void

    /// Creates a middleware that logs with `detail`.
    ///
    /// - Parameters:
    ///   - detail: The amount of detail.
    ///   - redaction: The text's redaction. With ``Redaction/none``, the log shows everything. In the unified log, bodies are then private:
    ///     they show while a debugger is attached.
    ///   - log: Gets the text for one request, without a final line break, on the thread of the event or the `dispose()`, maybe on several
    ///     threads at once. By default, the text goes to the unified log on Apple's systems, and to standard error in one piece elsewhere.
    public init(_ detail: Detail = .line, redacting redaction: Redaction = .standard, log: (@Sendable (String) -> Void)? = nil) {
        guard let log else {
            let isPrivate = detail == .bodies && redaction == .none
            self.init(detail, redacting: redaction, now: { .now() }) { StandardLog.write($0, isFailure: $1, isPrivate: isPrivate) }
            return
        }
        self.init(detail, redacting: redaction, now: { .now() }) { text, _ in log(text) }
    }

    /// Creates a middleware with a clock.
    package init(
        _ detail: Detail = .line, redacting redaction: Redaction = .standard, now: @escaping @Sendable () -> DispatchTime,
        log: @escaping @Sendable (_ text: String, _ isFailure: Bool) -> Void
    ) {
        self.detail = detail
        self.redaction = redaction
        self.now = now
        self.log = log
    }

    // MARK: - Logging a request

    /// Passes `request` to `next`, and logs the request at the end.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        .deferred {
            let start = now().uptimeNanoseconds
            let isLogged = Locked(false)
            let end: @Sendable (SingleEvent<APIResponse>?) -> Void = { event in
                guard isLogged.withLock({ isLogged in !Swift.exchange(&isLogged, with: true) }) else { return }
                log(text(request, event, milliseconds: (now().uptimeNanoseconds - start) / 1_000_000), event?.isFailure == true)
            }
            return next(request).do(
                onSuccess: { end(.success($0)) }, onError: { end(.failure($0)) }, onDispose: { end(nil) })
        }
    }

    private func text(_ request: PreparedRequest, _ event: SingleEvent<APIResponse>?, milliseconds: UInt64) -> String {
        let line = request.description(redacting: redaction)
        let subject = request.options.name ?? line
        let outcome: String
        var response: APIResponse?
        switch event {
        case .success(let value):
            outcome = String(value.description(redacting: redaction).dropFirst(value.request.description(redacting: redaction).count))
            response = value
        case .failure(let error):
            // An `APIError`'s description redacts a URL in the error.
            let description = (error as? APIError ?? .transport(request, underlying: error)).description(redacting: redaction)
            outcome = description.hasPrefix(line + " ") ? String(description.dropFirst(line.count)) : " failed: \(description)"
        case nil: outcome = ": cancelled"
        }
        let time = "\(outcome.hasSuffix(".") ? "" : ",") \(milliseconds) ms"
        var lines = ["\(subject)\(outcome)\(time)"]
        if detail == .bodies {
            lines += request.details(redacting: redaction).map { "  > \($0)" }
            // `response.request` also contains inner middlewares' secrets.
            lines += response?.details(redacting: redaction).map { "  < \($0)" } ?? []
        }
        return lines.map(\.onOneLine).joined(separator: "\n")
    }
}

extension SingleEvent<APIResponse> {
    fileprivate var isFailure: Bool {
        switch self {
        case .success(let response): response.statusCode >= 400
        case .failure: true
        }
    }
}

// MARK: - The default log

/// The default log.
private enum StandardLog {
    #if canImport(os)
    private static let logger = Logger(
        subsystem: Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName, category: "network")

    static func write(_ text: String, isFailure: Bool, isPrivate: Bool) {
        // The system cuts long entries, so each line is an entry.
        for line in text.split(separator: "\n") {
            let level: OSLogType = isFailure ? .error : .debug
            if isPrivate {
                logger.log(level: level, "\(String(line), privacy: .private)")
            } else {
                logger.log(level: level, "\(String(line), privacy: .public)")
            }
        }
    }
    #else
    static func write(_ text: String, isFailure: Bool, isPrivate: Bool) { StandardError.print(text) }
    #endif
}
