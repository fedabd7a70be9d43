// flags: -swift-version 6
// flags: -swift-version 5
// Chains as people write them. Nothing but the request says which type the response has.
import APIProvider
import Foundation
import MiniRx

import struct APIProvider.HTTPHeaders

struct User: Codable, Sendable {
    let login: String
    let number: Int
    let company: String?
}
struct Repository: Codable, Sendable {
    let id: Int
    let owner: User
}
enum Sort: String, QueryValue { case stars, forks }

extension APIRequest where Self == Endpoint<User> {
    static var me: Self { Endpoint(.get, "/user") }
    static func user(_ login: String) -> Self { Endpoint(.get, "/users/\(login)") }
}

extension APIRequest where Self == Endpoint<[Repository]> {
    static func repositories(of login: String, page: Int = 1) -> Self { Endpoint(.get, "/r", query: ["o": login, "page": page]) }
}

struct Search: APIRequest {
    let keyword: String
    var endpoint: Endpoint<[Repository]> { Endpoint(.get, "/search", query: ["q": keyword]) }
}

func repositories(of user: User) -> Endpoint<[Repository]> { Endpoint(.get, "/users/\(user.login)/repos") }

func inferredFromTheEndpoint(_ provider: any APIProvider, _ page: Int?, _ since: Date, _ etag: String?) -> [Single<[User]>] {
    [
        provider.request(.me).flatMap { user in
            provider.request(
                Endpoint<[User]>(
                    .get, "/r", query: ["n": user.number, "page": page, "since": since, "sort": Sort.stars, "tag": ["a", "b"]]))
        },
        provider.request(.me).flatMap { user in
            provider.request(Endpoint<[User]>(.get, "/raw/\(user.login)", headers: ["If-None-Match": etag, "X-User": user.login]))
        },
        provider.request(.me).flatMap { provider.request(Endpoint<[User]>(.get, "/r", query: ["o": $0.login])) }.catch { error in
            guard (error as? APIError)?.statusCode == 404 else { throw error }
            return .just([])
        },
    ]
}

func inferredFromTheResult(_ provider: any APIProvider) -> [Single<User>] {
    [
        provider.request(.me).flatMap { provider.request(Endpoint(.post, "/token", body: .form(["login": $0.login]))) },
        provider.request(.me).flatMap { provider.request(Endpoint(.post, "/issues", body: .json(["title": $0.login]))) },
    ]
}

func fromAFunctionOrAType(_ provider: any APIProvider) -> [Single<[Repository]>] {
    @Sendable func load(_ user: User) -> Single<[Repository]> { provider.request(repositories(of: user)) }
    return [
        provider.request(.me).flatMap(load),
        provider.request(.me).flatMap { provider.request(.repositories(of: $0.login)) },
        provider.request(.me).flatMap { provider.request(Search(keyword: $0.login)) },
        provider.request(.me).flatMap { user -> Single<[Repository]> in
            guard user.number > 0 else { return .just([]) }
            let query: QueryParameters = ["o": user.login, "n": user.number]
            return provider.request(Endpoint(.get, "/r", query: query))
        },
    ]
}

func mapped(_ provider: any APIProvider) -> (Single<[String]>, Single<(User, [Repository])>) {
    (
        provider.request(.me)
            .flatMap { provider.request(.user($0.login).option(\.isAuthenticated, false).withResponse()) }
            .map { [$0.value.login] },
        provider.request(.me).flatMap { user in
            provider.request(Endpoint<[Repository]>(.get, "/r", query: ["o": user.login])).map { (user, $0) }
        }
    )
}

func zipped(_ provider: any APIProvider, _ logins: [String]) -> (Single<String>, Single<[User]>) {
    (
        provider.request(.me).flatMap { user in
            Single.zip(
                provider.request(Endpoint<[User]>(.get, "/followers", query: ["o": user.login])),
                provider.request(Endpoint<[Repository]>(.get, "/r", query: ["o": user.login, "n": user.number]))
            ) { followers, repositories in "\(followers.count) \(repositories.count)" }
        },
        .zip(logins.map { provider.request(Endpoint<User>(.get, "/u", query: ["login": $0])) })
    )
}

func asynchronous(_ provider: any APIProvider) async throws -> [Repository] {
    let user = try await provider.request(.me).value
    async let first = provider.request(Endpoint<[Repository]>(.get, "/r", query: ["o": user.login, "n": user.number])).value
    async let second: [Repository] = provider.request(.repositories(of: user.login)).value
    return try await first + second
}

func anyRequest<Response>(_ provider: any APIProvider, _ request: some APIRequest<Response>) -> Single<Response> {
    provider.request(request)
}

final class Model: Sendable {
    private let provider: any APIProvider
    private let bag = DisposeBag()

    init(_ provider: any APIProvider) { self.provider = provider }

    func load() {
        provider.request(.me)
            .flatMap { [provider] user in provider.request(Endpoint<[Repository]>(.get, "/r", query: ["o": user.login])) }
            .flatMap { self.provider.request(Endpoint<User>(.get, "/u", query: ["id": $0.map(\.id), "owner": $0.first?.owner.login])) }
            .map { $0.login }
            .subscribe(onSuccess: { print($0) }, onFailure: { print($0) })
            .disposed(by: bag)
    }
}

// Qualified names, for a file in which two libraries declare the same name.
func headers() -> HTTPHeaders { [:] }

#if compiler(>=6.3)
func others() -> APIProvider::HTTPHeaders { [:] }
#endif
