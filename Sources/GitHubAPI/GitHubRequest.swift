public import APIProvider
public import Foundation

/// A request of GitHub's REST API: https://docs.github.com/rest
public protocol GitHubRequest: APIRequest {}

extension GitHubRequest {
    /// What GitHub asks clients to send. It also asks for a `User-Agent`, by which the app names itself: `DefaultHeadersMiddleware` sets one.
    public var headers: HTTPHeaders { ["Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"] }
}

/// Where GitHub is.
public enum GitHub {
    /// The REST API.
    public static let apiURL = url("api.github.com")
    /// The host on which people sign in.
    public static let oauthURL = url("github.com")

    private static func url(_ host: String) -> URL {
        var components = URLComponents()
        (components.scheme, components.host) = ("https", host)
        guard let url = components.url else { preconditionFailure("\(host) is no host.") }
        return url
    }
}
