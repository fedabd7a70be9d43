// expect: nothing
import APIProvider
import Foundation
import MiniRx

struct User: Codable, Sendable { let login: String }

struct UserRequest: APIRequest {
    let login: String
    var endpoint: Endpoint<User> { Endpoint(.get, "/users/\(login)") }
}

extension APIRequest where Self == Endpoint<User> {
    static func user(_ login: String) -> Self { Endpoint(.get, "/users/\(login)") }
}

func all(by provider: any APIProvider, _ nextPage: URL) -> Single<([User], User, User)> {
    .zip(
        provider.request(Endpoint<[User]>(.get, .url(nextPage))),
        provider.request(.user("octocat")),
        provider.request(UserRequest(login: "octocat").endpoint.option(\.isAuthenticated, false).map { $0 }))
}
