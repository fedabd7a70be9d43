#if os(Linux) && compiler(>=6.3)  // An exit test that captures a value.
import APIProvider
import Foundation
import FoundationNetworking
import MiniRx
import TestSupport
import Testing

@Suite("A bad network and the process", tenMinutes)
struct FaultProcessTests {
    @Test(
        "Responses with which Foundation itself ends the process: the documentation lists them",
        .enabled(if: isNight, "Each starts a process, and only a new Foundation changes it."), arguments: Deadly.allCases)
    func deadly(_ response: Deadly) async throws {
        // If this test fails, Foundation has been repaired: remove the response from the documentation.
        let result = await #expect(processExitsWith: .failure) { [response] in
            let server = try LoopbackServer([.readRequest, .send(response.text)])
            let request = Endpoint<String>(.get, .url(server.url))
            _ = try? await DefaultAPIProvider(configuration: .ephemeral).request(request).value
        }
        // A trap, and not an error of this test.
        #expect([.signal(SIGILL), .signal(SIGTRAP)].contains(result?.exitStatus))
    }

    enum Deadly: String, CaseIterable, Codable {
        #if compiler(<6.4)
        case closedInTheHeader = "HTTP/1.1 200 OK\r\nX-A"
        case closedBehindNoLength = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-A"
        case closedIn204 = "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\nX-A"
        case closedIn304 = "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\nX-A"
        case trailer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-A: b\r\n\r\n"
        #endif
        case hugeLength = "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n"
        case redirectToEscapedSlashWithoutScheme = "HTTP/1.1 302 Found\r\nLocation: //b%2f/\r\nContent-Length: 0\r\n\r\n"
        case redirectToIPv6WithoutScheme = "HTTP/1.1 302 Found\r\nLocation: //[::1]/\r\nContent-Length: 0\r\n\r\n"

        var text: String { rawValue }
    }
}
#endif
