import APIProvider
import Foundation
import GitHubAPI
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

private struct APIs: Sendable {
    let accounts: DefaultAPIProvider
    let files: DefaultAPIProvider

    init(configuration: URLSessionConfiguration = .default) {
        let shared: [any Middleware] = [RetryMiddleware(), LoggingMiddleware()]
        accounts = DefaultAPIProvider(
            baseURL: URL(string: "https://accounts.example.com"), configuration: configuration, middlewares: shared)
        files = DefaultAPIProvider(
            baseURL: URL(string: "https://files.example.com/v2"), configuration: configuration,
            middlewares: [DefaultHeadersMiddleware(["X-Client": "app"])] + shared)
    }
}

private func makeConfiguration() -> URLSessionConfiguration {
    guard CommandLine.arguments.contains("--sample-data") else { return .default }
    MockURLProtocol.stub(.get, "/items", respond: .json(["a", "b"]))
    return MockURLProtocol.configuration
}

private func sampleProvider() -> DefaultAPIProvider {
    MockURLProtocol.stub(.get, "/search/repositories", respond: .json(["items": [String]()]))
    return DefaultAPIProvider(baseURL: GitHub.apiURL, transport: MockTransport())
}

private func register() {
    _ = URLProtocol.registerClass(MockURLProtocol.self)
    MockURLProtocol.stub(.get, "/items", respond: .json(["a", "b"]))
}

private struct Forecast: Codable { let text: String }

private struct Weather: Sendable {
    private let provider: DefaultAPIProvider
    private let scheduler: any Scheduler

    init(
        configuration: URLSessionConfiguration = .ephemeral,
        scheduler: any Scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
    ) {
        self.scheduler = scheduler
        provider = DefaultAPIProvider(
            baseURL: URL(string: "https://weather.example.com"),
            transport: URLSessionTransport(configuration: configuration, maxResponseSize: 1_000_000),
            middlewares: [RetryMiddleware(RetryPolicy(maxAttempts: 2)), LoggingMiddleware()])
    }

    /// Called for each request that the server gets.
    func forecast(for city: String) async throws -> Forecast {
        let forecast = Endpoint<Forecast>(.get, "/forecast", query: ["city": city])
        return try await provider.request(forecast)
            .timeout(.seconds(5), scheduler: scheduler)
            .value
    }
}

@Suite("The cookbook: several APIs, and a server", .mockNetwork)
struct ServiceTests {
    @Test("The provider of a preview answers from its stub", .mockNetwork)
    func preview() async throws {
        let provider = sampleProvider()
        let data = try await provider.request(Endpoint<Data>(.get, "/search/repositories")).value
        #expect(String(decoding: data, as: UTF8.self) == #"{"items":[]}"#)
    }

    @Test("Each API has its own host and headers")
    func hosts() async throws {
        MockURLProtocol.stub(.get, "https://accounts.example.com/me", respond: .status(204))
        MockURLProtocol.stub(.get, "https://files.example.com/v2/list", headers: ["X-Client": "app"], respond: .status(204))
        let apis = APIs(configuration: MockURLProtocol.configuration)
        try await apis.accounts.request(Endpoint<Void>(.get, "/me")).value
        try await apis.files.request(Endpoint<Void>(.get, "/list")).value
        #expect(MockURLProtocol.requests.first?.headers["X-Client"] == nil)
    }

    @Test("A server asks another one")
    func server() async throws {
        MockURLProtocol.stub(.get, "/forecast", query: ["city": "Bern"], respond: .json(Forecast(text: "sun")))
        let weather = Weather(configuration: MockURLProtocol.configuration, scheduler: TestScheduler())
        #expect(try await weather.forecast(for: "Bern").text == "sun")
    }

    @Test("Without the argument, the network is the real one")
    func configuration() {
        #expect(makeConfiguration().protocolClasses?.contains { $0 is MockURLProtocol.Type } != true)
    }
}
