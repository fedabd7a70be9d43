@_spi(Transports) import APIProvider
import APIProviderMocks
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderCache

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The cache: users, tokens and cookies", .mockNetwork)
struct UserTests {
    private static let gitHub: HTTPHeaders = [
        "Cache-Control": "private, max-age=60, s-maxage=60", "ETag": "W/\"a\"",
        "Vary": "Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With",
    ]

    @Test("What GitHub sends to a signed-in user is stored, validated and used offline", arguments: [false, true])
    func signedIn(hasSession: Bool) async throws {
        let authentication = AuthenticationMiddleware(token: "alice") { _ in .error(TestError()) }
        let session = URLSessionTransport(configuration: MockURLProtocol.configuration)
        let world = World(behind: [RetryMiddleware(.never), authentication], transport: hasSession ? session : MockTransport())
        world.serve(Self.gitHub)
        #expect(try await world.get().isFromCache == false)
        #expect(try await world.get().isFromCache)
        world.pass(100)
        // Another token of the same user.
        authentication.credential = "alice's next"
        #expect(try await world.get().value(forHTTPHeaderField: "Cache-Status")?.contains("fwd-status=304") == true)
        #expect(MockURLProtocol.requests.map { $0.headers["If-None-Match"] } == [nil, "W/\"a\""])
        world.pass(100)
        MockURLProtocol.stub(.get, "/a", respond: .failure(URLError(.notConnectedToInternet)))
        let offline = try await world.get("/a", [:], .staleIfOffline)
        #expect(offline.isFromCache && offline.text == "1")
        let statistics = world.cache.statistics
        #expect(statistics.misses == 1 && statistics.hits == 2 && statistics.validations == 2)
    }

    /// A middleware of an app that has a cache of its own inside.
    private struct Wrapper: Middleware {
        let cache: CacheMiddleware
        func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> { cache.intercept(request, next: next) }
    }

    @Test("A cache inside another middleware knows what the transport adds")
    func wrapped() async throws {
        MockURLProtocol.stub(.get, "/a", respond: .data(Data("1".utf8), headers: Self.gitHub))
        // Another test may sign out meanwhile.
        let cache = CacheMiddleware(MemoryCache(), scheduler: nil, now: { Date() }, currentSignOutCount: { 0 })
        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(), middlewares: [Wrapper(cache: cache)])
        let request = Endpoint<Data>(.get, "/a").withResponse()
        #expect(try await provider.request(request).value.response.isFromCache == false)
        #expect(try await provider.request(request).value.response.isFromCache)
    }

    @Test(
        "Over a transport of one's own that says nothing, a response that varies by a credential is stored if the request has one",
        arguments: [(nil, nil, false), (nil, "Bearer a", true), ([:], nil, true), (["X-App": "1"], "Bearer a", true)]
            as [(HTTPHeaders?, String?, Bool)])
    func ownTransport(addedHeaders: HTTPHeaders?, credential: String?, isStored: Bool) async throws {
        let mock = MockTransport()
        let world = World(transport: ClosureTransport(addedHeaders: addedHeaders) { mock.send($0) })
        world.serve(["Cache-Control": "max-age=10", "Vary": "Accept, Authorization"])
        for isSecond in [false, true] {
            #expect(try await world.get("/a", ["Authorization": credential]).isFromCache == (isSecond && isStored))
        }
    }

    /// How a request says whose it is.
    enum Identity: CaseIterable {
        case authenticationBefore, authenticationBehind, headers, cookies, cookieHeaders, configuration
        // The app does not call `removeAll()`.
        case forgottenRemoval, forgottenRemovalAndConfiguration
    }

    @Test("Two users never share a response that varies by them", arguments: Identity.allCases)
    func twoUsers(identity: Identity) async throws {
        let jar = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        // Other tests sign out meanwhile.
        let isCounted = [.forgottenRemoval, .forgottenRemovalAndConfiguration].contains(identity)
        let store = MemoryCache()
        func makeCache() -> CacheMiddleware {
            CacheMiddleware(store, scheduler: nil, now: { Date() }, currentSignOutCount: { isCounted ? SignOutCounter.current : 0 })
        }
        let cache = makeCache()
        let authentication = AuthenticationMiddleware(token: "alice") { _ in .error(TestError()) }
        func provider(_ user: String) -> DefaultAPIProvider {
            let middlewares: [any Middleware] =
                switch identity {
                case .authenticationBefore: [authentication, cache]
                case .authenticationBehind: [cache, authentication]
                // Each user may also have another cache with the same folder.
                case .forgottenRemoval, .forgottenRemovalAndConfiguration: [makeCache(), authentication]
                default: [cache]
                }
            let headers: HTTPHeaders =
                switch identity {
                case .configuration: ["Authorization": user]
                case .forgottenRemovalAndConfiguration: ["Authorization": "app"]
                default: [:]
                }
            return DefaultAPIProvider(
                baseURL: host(identity), transport: server(cookies: jar, additionalHeaders: headers), middlewares: middlewares)
        }
        func get(_ user: String, _ policy: CachePolicy = .standard) async throws -> APIResponse {
            let headers: HTTPHeaders =
                switch identity {
                case .headers: ["Authorization": user]
                case .cookieHeaders: ["Cookie": user]
                default: [:]
                }
            return try await provider(user).request(
                Endpoint<APIResponse>(.get, "/a", headers: headers) { $0 }.validating { _ in }.option(\.cachePolicy, policy)
            ).value
        }
        for (user, other) in [("alice", "bob"), ("bob", "carol")] {
            jar.setCookie(try #require(cookie(identity == .cookies ? user : "same", for: host(identity))))
            #expect(try await get(user).text.contains(user))
            let second = try await get(user)
            if !isCounted { #expect(second.isFromCache) }
            #expect(second.text.contains(user))
            jar.setCookie(try #require(cookie(identity == .cookies ? other : "same", for: host(identity))))
            if isCounted || identity == .authenticationBehind { authentication.credential = nil }
            if identity == .authenticationBehind { cache.removeAll() }
            authentication.credential = other
            #expect(try await get(other, .onlyIfCached).statusCode == 504)
        }
    }

    @Test("A response during which the cookies change is not stored")
    func changingCookies() async throws {
        let jar = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let newCookie = try #require(cookie("bob", for: host("changing")))
        let transport = server(cookies: jar) { jar.setCookie(newCookie) }
        let (world, path) = (World(transport: transport), RequestPath.url(try #require(host("changing"))))
        #expect(try await world.get(path).text == "")
        #expect(try await world.get(path, [:], .onlyIfCached).statusCode == 504)
        jar.deleteCookie(newCookie)
        #expect(try await world.get(path, [:], .onlyIfCached).statusCode == 504)
    }

    /// A host of its own for each test: on Linux, ephemeral configurations may share their cookies.
    private func host(_ name: Any) -> URL? { URL(string: "https://\(name).example.org".lowercased()) }

    private func cookie(_ user: String, for url: URL?) -> HTTPCookie? {
        HTTPCookie(properties: [.name: "user", .value: user, .domain: url?.host ?? "", .path: "/"])
    }

    /// Answers with the user of a request: its token and its cookie.
    private func server(
        cookies: HTTPCookieStorage, additionalHeaders: HTTPHeaders = [:], beforeAnswering: @escaping @Sendable () -> Void = {}
    ) -> ExchangeTransport {
        var settings = ExchangeTransport.Settings()
        (settings.cookies, settings.additionalHeaders) = (cookies, additionalHeaders)
        return ExchangeTransport(settings) { exchange in
            beforeAnswering()
            let user = ["Authorization", "Cookie"].compactMap { exchange.request.headers[$0] }.joined(separator: " ")
            let headers: HTTPHeaders = ["Cache-Control": "max-age=100", "Vary": "Authorization, Cookie"]
            _ = exchange.receive(APIResponse(to: exchange.request, headers: headers).httpResponse)
            _ = exchange.receive(Data(user.utf8))
            exchange.complete()
            return Disposables.create()
        }
    }
}
