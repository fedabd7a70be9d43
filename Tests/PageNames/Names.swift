// What snippets use and do not show. A declaration on the page, or in its frame, takes precedence.

import APIProvider
import APIProviderCache
import APIProviderMocks
import Fixtures
import Foundation
import GitHubAPI
import MiniRx
import TestSupport

// Values

let api = example
let gitHub = example
let baseURL = example
let nextPage = example
let file = example
let folder = example
let photo = example
let provider = DefaultAPIProvider(baseURL: api)
let authentication = AuthenticationMiddleware { _ in refresh }
let refresh = Single.just("")
let cache = CacheMiddleware()
let items = Endpoint<[Item]>(.get, "/items")
let endpoint = Endpoint<Void>(.put, "/photo")
let request = UserRequest()
let single = Single<[Repository]>.just([])
let singles = [single]
let scheduler = TestScheduler()
let subscription = Disposables.create()
let first = subscription
let second = subscription
let bag = DisposeBag()
let log = Log<any Sendable>()
let data = Data()
let item = Item()
let issue = Issue()
let order = Order()
let configuration = URLSessionConfiguration.ephemeral
let session = URLSession(configuration: configuration)
let decoder = JSONDecoder()
let error: any Error = URLError(.timedOut)
let sortOrder = "asc"
let dictionary = ["a": "b"]
let etag: String? = nil
let page: Int? = nil
let (id, ids, logins) = (1, [1], ["octocat"])
let (keyword, login, name, newToken, owner, password, text, token) = ("", "", "", "", "", "", "", "")
let stack = NetworkStack()
@MainActor let model = Model()
@MainActor let label = Label()
@MainActor let bar = Bar()
@MainActor let screen = Reader()
@MainActor var rows: [Row] = []

// Functions

func use<Value>(_ value: Value) {}
func show(_ value: Any) {}
func apply(_ event: ServerSentEvent) {}
func compress(_ data: Data) throws -> Data { data }
func work(_ value: [Repository]) async throws -> Int { value.count }
func startTimer(_ action: @escaping @Sendable () -> Void) -> URLSessionTask { session.dataTask(with: api) }

// Types

/// What a snippet with `self` extends.
@MainActor
final class Reader {
    var items: [Repository] = []
    var user: User?
    nonisolated func show(_ value: Any) {}
}

struct Item: Codable {}
struct SignInNeeded: Error {}
struct Row: Codable {}
struct Issue: Codable {}
struct Receipt: Codable {}
struct Order: Codable, Equatable {}
struct Envelope: Codable { let data: Item }
struct Job: Codable { let isDone: Bool }
struct Forecast: Codable {}
struct Feed: Decodable { let items: [Repository] }

enum Fixture {
    static let search = MockURLProtocol.MockDTOType.search
    static let user = MockURLProtocol.MockDTOType.user
    static let repository = MockURLProtocol.MockDTOType.search
}

struct RefreshRequest: APIRequest {
    struct Response: Codable { let accessToken: String }
    var endpoint: Endpoint<Response> { Endpoint(.post, "/token") }
}

struct Chat: APIRequest {
    let prompt: String
    var endpoint: Endpoint<ServerSentEvents> { Endpoint(.post, "/v1/chat", body: .json(["prompt": prompt])) }
}

extension APIRequest where Self == Endpoint<User> {
    @_disfavoredOverload
    static func user(_ login: String) -> Self { Endpoint(.get, "/users/\(login)") }
}

extension GitHub {
    static func makeProvider() -> DefaultAPIProvider { provider }
}

protocol Signer: Sendable {
    func signature(of body: Data) async throws -> String
}

final class Model {
    var text = ""
    var isOffline = false
    func send(_ prompt: String) {}
    @MainActor func load() async {}
}

final class Label { var text = "" }
final class Bar { var progress = 0.0 }

struct NetworkStack {
    func send(
        _ request: PreparedRequest, onHead: @Sendable (HTTPURLResponse) -> Bool, onBody: @Sendable (Data) -> Bool,
        onEnd: @Sendable ((any Error)?) -> Void
    ) -> URLSessionTask { session.dataTask(with: request.urlRequest) }
}
