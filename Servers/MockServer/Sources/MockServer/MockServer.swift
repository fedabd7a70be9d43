@_spi(Serving) public import APIProviderMocks
public import Foundation

/// Serves the stubs and recordings of a scope on a port of this machine: to an app in a UI test, and to programs in other languages.
///
/// ```swift
/// @MainActor func testShowsAnError() async throws {
///     try await MockServer.run(for: "https://api.github.com") { server in
///         server.mock.stub(.get, "/user", respond: .json(["login": "octocat"]))
///         let app = XCUIApplication()
///         app.launchEnvironment["API"] = server.url.absoluteString
///         app.launch()
///         XCTAssertTrue(app.staticTexts["octocat"].waitForExistence(timeout: 10))
///     }
/// }
/// ```
///
/// A request without an answer gets a 501, whose body is the report. Give each test its own server, with port 0: they run in parallel.
public final class MockServer: Sendable {
    /// Where and for whom a server listens.
    public struct Options: Sendable {
        /// The port. 0, the default, takes any free port.
        public var port: UInt16 = 0
        /// An IP address of this machine to listen on, or a name of this machine, to listen on all of its addresses. By default, and with
        /// `localhost`, only programs of this machine can connect.
        public var host: String?
        /// The origins of web pages that may send requests, such as `https://app.example.com`. Pages of this machine always may.
        public var allowedOrigins: Set<String> = []
        /// Whether the served origin is replaced by ``MockServer/url`` in textual bodies, and not only in `Location` and `Link`. Replaced
        /// bodies are sent as a whole.
        public var replacesOrigin = false
        /// The folder whose files answer, and from which `fixture` of a stub by HTTP is read.
        package var fixtures: FixtureFolder?
        /// Whether reports give advice in Swift.
        package var isForSwift = true
        /// The stubs that the server starts with.
        package var stubs: [StubDescription] = []
        /// Gets a sentence about each request that the recorded server did not answer. `nil` if nothing is recorded.
        package var reportMissingAnswer: (@Sendable (String) -> Void)?

        /// Creates options for port 0 of the loopback addresses.
        public init() {}
    }

    /// The URL for the app, in place of the API's origin: `http://127.0.0.1:49152`. The host is an address, so no name is looked up.
    public let url: URL
    /// The scope that answers. Add stubs to it, and check its requests. It keeps the newest 1,000 requests, with at most 64 MB of bodies.
    public let mock: MockURLProtocol.Type
    private let stopServing: @Sendable () async -> Void

    private init(_ url: URL, _ mock: MockURLProtocol.Type, _ stopServing: @escaping @Sendable () async -> Void) {
        (self.url, self.mock, self.stopServing) = (url, mock, stopServing)
    }

    // MARK: - Starting

    /// Runs `operation` with a server in a scope of its own, which stops at the end.
    ///
    /// - Parameters:
    ///   - origin: The origin that stubs and recordings name, such as `https://api.github.com`.
    ///   - options: Where the server listens.
    ///   - isolation: The caller's actor, on which `operation` runs.
    ///   - setUp: Adds answers to the scope, now and after each `DELETE /__mock`.
    ///   - operation: The test.
    /// - Throws: The error of `operation`, or else what `verify()` throws. An error that says so if the port is taken.
    public static func run<R>(
        for origin: String, options: Options = Options(), isolation: isolated (any Actor)? = #isolation,
        setUp: @escaping @Sendable (MockURLProtocol.Type) throws -> Void = { _ in }, operation: (MockServer) async throws -> R
    ) async throws -> R {
        try await MockURLProtocol.withScope("of the server for \(origin)", isolation: isolation) {
            let server = try await startInCurrentScope(for: origin, options: options, setUp: setUp)
            do {
                let result = try await operation(server)
                await server.stop()
                try server.mock.verify()
                return result
            } catch {
                await server.stop()
                throw error
            }
        }
    }

    /// Starts a server in a scope of its own, for `setUp` of a test. Call ``stop()`` in its `tearDown`, after `mock.verify()`.
    ///
    /// - Parameters:
    ///   - origin: The origin that stubs and recordings name, such as `https://api.github.com`.
    ///   - options: Where the server listens.
    ///   - setUp: Adds answers to the scope, now and after each `DELETE /__mock`.
    /// - Throws: An error that says so if the port is taken.
    public static func start(
        for origin: String, options: Options = Options(), setUp: @escaping @Sendable (MockURLProtocol.Type) throws -> Void = { _ in }
    ) async throws -> MockServer {
        let (end, ending) = AsyncStream.makeStream(of: Never.self)
        let (servers, started) = AsyncThrowingStream.makeStream(of: MockServer.self)
        // The scope lives as long as this task. Whoever calls has verified it before the end, so nobody hears that here.
        let task = Task {
            do {
                try await run(for: origin, options: options, setUp: setUp) { server in
                    started.yield(server)
                    for await _ in end {}
                }
            } catch { started.finish(throwing: error) }
        }
        for try await server in servers {
            return MockServer(server.url, server.mock) {
                ending.finish()
                await task.value
            }
        }
        // The caller is cancelled. The server may have started, or start yet.
        ending.finish()
        await task.value
        throw CancellationError()
    }

    /// Starts a server for the current scope, which must live until it stops.
    package static func startInCurrentScope(
        for origin: String, options: Options, setUp: @escaping @Sendable (MockURLProtocol.Type) throws -> Void
    ) async throws -> MockServer {
        let (origin, mock) = (try Origin(origin), MockURLProtocol.current)
        mock.keepRequests(1_000, byteCount: 64 << 20)
        let control = try await Control(mock: mock, options, setUp: setUp)
        let handler = MockHandler(origin: origin, mock: mock, rules: AccessRules(options), options: options, control: control)
        let listener = try await Listener(options, handler)
        return MockServer(listener.url, mock) { await listener.stop() }
    }

    // MARK: - Stopping

    /// Stops serving, and ends all connections. Requests in progress get no answer. Returns when the port is free.
    public func stop() async { await stopServing() }
}

/// A mistake of whoever starts a server or sends it a stub.
package struct ServerError: Error, CustomStringConvertible, LocalizedError {
    package let description: String
    package var errorDescription: String? { description }

    package init(_ description: String) { self.description = description }
}
