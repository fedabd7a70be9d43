// expect: nothing
// flags: -swift-version 6
// flags: -swift-version 5
// Chains as people write them: nothing but the request says of which type the response is.
import APIProvider
import Foundation
import MiniRx

struct User: Codable, Sendable {
    let login: String
    let number: Int
    let company: String?
}
struct Repository: Codable, Sendable {
    let id: Int
    let owner: User
}
struct NewIssue: Codable, Sendable { let title: String }
struct Token: Codable, Sendable { let value: String }
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

func thenAQuery(_ provider: any APIProvider) -> Single<[User]> {
    provider.request(.me).flatMap { user in provider.request(Endpoint<[User]>(.get, "/r", query: ["o": user.login])) }
}

func thenANumber(_ provider: any APIProvider) -> Single<[User]> {
    provider.request(.me).flatMap { user in provider.request(Endpoint<[User]>(.get, "/r", query: ["n": user.number])) }
}

func thenAnOptional(_ provider: any APIProvider) -> Single<[User]> {
    provider.request(.me).flatMap { user in provider.request(Endpoint<[User]>(.get, "/r", query: ["c": user.company])) }
}

func thenSeveralTypes(_ provider: any APIProvider, _ page: Int?, _ since: Date) -> Single<[User]> {
    provider.request(.me).flatMap { user in
        provider.request(
            Endpoint<[User]>(
                .get, "/r",
                query: ["o": user.login, "n": user.number, "page": page, "since": since, "sort": Sort.stars, "tag": ["a", "b"]]))
    }
}

func inferredFromTheResult(_ provider: any APIProvider) -> Single<[User]> {
    provider.request(.me).flatMap { provider.request(Endpoint(.get, "/r", query: ["o": $0.login, "n": $0.number])) }
}

func shorthand(_ provider: any APIProvider) -> Single<[User]> {
    provider.request(.me).flatMap { provider.request(Endpoint<[User]>(.get, "/r", query: ["o": $0.login, "c": $0.company])) }
}

func thenAForm(_ provider: any APIProvider) -> Single<Token> {
    provider.request(.me).flatMap { user in
        provider.request(Endpoint<Token>(.post, "/token", body: .form(["login": user.login, "n": user.number, "c": user.company])))
    }
}

func thenAFormInShort(_ provider: any APIProvider) -> Single<Token> {
    provider.request(.me).flatMap { provider.request(Endpoint(.post, "/token", body: .form(["login": $0.login]))) }
}

func thenJSON(_ provider: any APIProvider) -> Single<Void> {
    provider.request(.me).flatMap { user in
        provider.request(Endpoint<Void>(.post, "/users/\(user.login)/issues", body: .json(NewIssue(title: user.login))))
    }
}

func thenADictionaryAsJSON(_ provider: any APIProvider) -> Single<Void> {
    provider.request(.me).flatMap { provider.request(Endpoint(.post, "/issues", body: .json(["title": $0.login]))) }
}

func thenHeaders(_ provider: any APIProvider, _ etag: String?) -> Single<Data> {
    provider.request(.me).flatMap { user in
        provider.request(Endpoint<Data>(.get, "/raw/\(user.login)", headers: ["If-None-Match": etag, "X-User": user.login]))
    }
}

func thenAHelper(_ provider: any APIProvider) -> Single<[Repository]> {
    provider.request(.me).flatMap { provider.request(repositories(of: $0)) }
}

func thenAHelperByName(_ provider: any APIProvider) -> Single<[Repository]> {
    @Sendable func load(_ user: User) -> Single<[Repository]> { provider.request(repositories(of: user)) }
    return provider.request(.me).flatMap(load)
}

func thenAStaticFunction(_ provider: any APIProvider) -> Single<[Repository]> {
    provider.request(.me).flatMap { provider.request(.repositories(of: $0.login)) }
}

func thenAType(_ provider: any APIProvider) -> Single<[Repository]> {
    provider.request(.me).flatMap { provider.request(Search(keyword: $0.login)) }
}

func thenThree(_ provider: any APIProvider) -> Single<User> {
    provider.request(.me)
        .flatMap { user in provider.request(.repositories(of: user.login, page: user.number)) }
        .flatMap { repositories in provider.request(Endpoint<User>(.get, "/u", query: ["id": repositories.first?.id])) }
        .flatMap { provider.request(.user($0.login)) }
}

func mapBehind(_ provider: any APIProvider) -> Single<[String]> {
    provider.request(.me)
        .flatMap { user in provider.request(Endpoint<[User]>(.get, "/r", query: ["o": user.login])) }
        .map { users in users.map(\.login) }
}

func mapWithinTheClosure(_ provider: any APIProvider) -> Single<(User, [Repository])> {
    provider.request(.me).flatMap { user in
        provider.request(Endpoint<[Repository]>(.get, "/r", query: ["o": user.login])).map { (user, $0) }
    }
}

func mapOfTheEndpoint(_ provider: any APIProvider) -> Single<Int> {
    provider.request(.me).flatMap { user in
        provider.request(Endpoint<[Repository]>(.get, "/r", query: ["o": user.login]).map { $0.count })
    }
}

func modifiers(_ provider: any APIProvider) -> Single<String?> {
    provider.request(.me)
        .flatMap { user in
            provider.request(
                Endpoint<[User]>(.get, "/r", query: ["o": user.login]).option(\.isAuthenticated, false).withResponse())
        }
        .map { $0.response.value(forHTTPHeaderField: "Link") }
}

func zipped(_ provider: any APIProvider) -> Single<(User, [Repository])> {
    .zip(provider.request(.me), provider.request(Endpoint<[Repository]>(.get, "/r", query: ["page": 1, "all": true])))
}

func zippedWithAResult(_ provider: any APIProvider) -> Single<String> {
    provider.request(.me).flatMap { user in
        Single.zip(
            provider.request(Endpoint<[User]>(.get, "/followers", query: ["o": user.login])),
            provider.request(Endpoint<[Repository]>(.get, "/r", query: ["o": user.login, "n": user.number]))
        ) { followers, repositories in "\(followers.count) \(repositories.count)" }
    }
}

func zippedAll(_ provider: any APIProvider, _ logins: [String]) -> Single<[User]> {
    .zip(logins.map { provider.request(Endpoint<User>(.get, "/u", query: ["login": $0])) })
}

func caught(_ provider: any APIProvider) -> Single<User> {
    provider.request(.me).catch { _ in provider.request(Endpoint<User>(.get, "/guest", query: ["n": 1])) }
}

func caughtByStatus(_ provider: any APIProvider) -> Single<[User]> {
    provider.request(.me)
        .flatMap { provider.request(Endpoint<[User]>(.get, "/r", query: ["o": $0.login])) }
        .catch { error in
            guard (error as? APIError)?.statusCode == 404 else { throw error }
            return .just([])
        }
}

func severalStatements(_ provider: any APIProvider) -> Single<[Repository]> {
    provider.request(.me).flatMap { user -> Single<[Repository]> in
        guard user.number > 0 else { return .just([]) }
        let query: QueryParameters = ["o": user.login, "n": user.number]
        return provider.request(Endpoint(.get, "/r", query: query))
    }
}

func severalStatementsWithoutAType(_ provider: any APIProvider) -> Single<[Repository]> {
    provider.request(.me).flatMap { user in
        let page = user.number + 1
        return provider.request(Endpoint<[Repository]>(.get, "/r", query: ["o": user.login, "page": page]))
    }
}

func generic(_ provider: some APIProvider) -> Single<[User]> {
    provider.request(.me).flatMap { user in provider.request(Endpoint<[User]>(.get, "/r", query: ["o": user.login, "c": user.company])) }
}

func concrete(_ provider: DefaultAPIProvider) -> Single<[User]> {
    provider.request(.me).flatMap { user in provider.request(Endpoint<[User]>(.get, "/r", query: ["o": user.login, "n": user.number])) }
}

func concreteInShort(_ provider: DefaultAPIProvider) -> Single<[User]> {
    provider.request(.me).flatMap { provider.request(Endpoint(.post, "/r", body: .form(["o": $0.login, "n": $0.number]))) }
}

func asynchronous(_ provider: any APIProvider) async throws -> [Repository] {
    let user = try await provider.request(.me).value
    let followers = try await provider.request(Endpoint<[User]>(.get, "/followers", query: ["o": user.login, "n": user.number])).value
    async let first = provider.request(Endpoint<[Repository]>(.get, "/r", query: ["o": followers[0].login])).value
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
