import APIProvider
import Foundation
import MockNetwork

enum GitHub {
    static let url = URL(string: "https://api.github.com")!

    static func makeProvider(recordingTo file: URL? = nil) -> DefaultAPIProvider {
        var middlewares: [any Middleware] = [
            DefaultHeadersMiddleware(["X-GitHub-Api-Version": "2022-11-28"]),
            RetryMiddleware(),
            LoggingMiddleware(),
        ]
        if let file { middlewares.append(RecordingMiddleware(to: file)) }
        return DefaultAPIProvider(baseURL: url, middlewares: middlewares)
    }
}
