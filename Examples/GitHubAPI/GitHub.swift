public import APIProvider
public import Foundation

/// The base URLs of GitHub.
public enum GitHub {
    /// The REST API.
    public static let apiURL = url("api.github.com")
    /// The host on which people sign in.
    public static let oauthURL = url("github.com")

    /// Where GitHub has its message for people: `DefaultAPIProvider(…, errorMessage: GitHub.errorMessage)`. Its "Not Found" says no more than
    /// the status.
    public static let errorMessage: @Sendable (APIResponse) -> String? = { response in
        response.statusCode == 404 ? nil : try? response.decode(GitHubError.self).errorDescription
    }

    private static func url(_ host: String) -> URL {
        var components = URLComponents()
        (components.scheme, components.host) = ("https", host)
        guard let url = components.url else { preconditionFailure("\(host) is no host.") }
        return url
    }
}

extension Endpoint {
    /// The endpoint with the headers that GitHub's REST API asks clients to send: https://docs.github.com/rest
    ///
    /// Headers that the endpoint has already stay as they are. GitHub also asks for a `User-Agent` that names the app. Set it with
    /// `DefaultHeadersMiddleware`.
    public var gitHub: Endpoint {
        var endpoint = self
        let standard: HTTPHeaders = ["Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"]
        endpoint.headers = standard.merging(headers)
        return endpoint
    }
}
