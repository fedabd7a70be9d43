import APIProvider
import Foundation

nonisolated enum GitHub {
    static let url = URL(string: "https://api.github.com")!

    static func makeProvider() -> DefaultAPIProvider {
        DefaultAPIProvider(
            baseURL: url,
            middlewares: [
                DefaultHeadersMiddleware(["X-GitHub-Api-Version": "2022-11-28"])
            ])
    }
}
