import APIProvider
import Foundation

nonisolated enum GitHub {
    static let url = URL(string: "https://api.github.com")!

    static func makeProvider() -> DefaultAPIProvider {
        DefaultAPIProvider(baseURL: url)
    }
}
