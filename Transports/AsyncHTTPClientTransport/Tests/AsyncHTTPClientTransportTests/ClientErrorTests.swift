import APIProvider
import AsyncHTTPClient
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import AsyncHTTPClientTransport

@Suite("Errors of the client and of the system", tenMinutes)
struct ClientErrorTests {
    /// The codes that `RetryMiddleware` takes for those of a request that was never sent.
    private let beforeSending: [URLError.Code] = [.cannotConnectToHost, .notConnectedToInternet, .cannotFindHost, .dnsLookupFailed]

    @Test("An error of connecting says that nothing was sent, and one of a connection in use never does", arguments: 1...133)
    func systemErrors(number: Int32) throws {
        let error = IOError(errnoCode: number, reason: "connect")
        let connecting = try #require(error.asURLError(nil, isConnecting: true) as? URLError)
        // Also those of a connection that was kept.
        let lost = [ECONNRESET, EPIPE, ENOTCONN, EBADF].contains(number)
        #expect(lost || number == ETIMEDOUT || beforeSending.contains(connecting.code), "\(connecting)")
        let inUse = try #require(error.asURLError(nil, isConnecting: false) as? URLError)
        #expect(!beforeSending.contains(inUse.code), "\(inUse)")
    }

    private struct Unknown: Error {}

    @Test("An unknown error before the request is one of connecting, and keeps its words")
    func unknown() throws {
        let error = try #require(Unknown().asURLError(nil, isConnecting: true) as? URLError)
        #expect(error.code == .cannotConnectToHost)
        let description = APIError.transport(PreparedRequest(.get, example), underlying: error).description
        #expect(description.hasSuffix(" failed: no connection could be made: Unknown() (URLError -1004)."), "\(description)")
        #expect((Unknown().asURLError(nil, isConnecting: false) as? URLError)?.code == .unknown)
    }

    @Test("A client that is shut down is named by the error of each request in flight", arguments: ["", "HTTP/1.1 200 OK\r\n\r\nbo"])
    func shutdown(answer: String) async throws {
        let arrivals = Signals<Void>()
        let server = try LoopbackServer { _, connection in
            connection.send(answer)
            arrivals.send(())
            connection.waitUntilClosed()
        }
        let client = HTTPClient()
        let provider = DefaultAPIProvider(transport: AsyncHTTPClientTransport(client: client))
        let failures = Signals<any Error>()
        let subscription = provider.request(Endpoint<String>(.get, .url(server.url)))
            .subscribe(onSuccess: { Issue.record("A value: \($0)") }, onFailure: { failures.send($0) })
        await arrivals.next()
        try await client.shutdown()
        let error = try #require(await failures.next())
        #expect("\(error)".hasSuffix("failed: the HTTPClient has been shut down (URLError -999)."), "\(error)")
        subscription.dispose()
    }
}
