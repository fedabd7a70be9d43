import APIProvider
import AsyncHTTPClientTransport
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import TestSupport
import Testing

@Suite("A Unix socket", tenMinutes)
struct UnixSocketTests {
    private let provider = DefaultAPIProvider(transport: AsyncHTTPClientTransport())
    private let folder = TemporaryFolder()

    private func url(_ path: String) throws -> URL {
        let host = try #require(path.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        return try #require(URL(string: "http+unix://\(host)/a"))
    }

    enum Mistake: CaseIterable { case missing, abandoned, file, insideAFile, circle, longPath }

    /// The path of a socket to which no connection can be made, and the error's words.
    private func path(_ mistake: Mistake) async throws -> (path: String, words: String) {
        let path = folder.url("s").path
        let noServer = "no connection could be made; is a server listening at \(path)? (URLError -1004)."
        switch mistake {
        case .missing: break
        case .abandoned:
            let socket = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(unixDomainSocketPath: path).get()
            // NIO removes the name of a socket that it closes.
            try FileManager.default.linkItem(atPath: path, toPath: path + "2")
            try await socket.close()
            return (path + "2", noServer.replacingOccurrences(of: path, with: path + "2"))
        case .file: try Data().write(to: folder.url("s"))
        case .insideAFile:
            try Data().write(to: folder.url("s"))
            return (path + "/a", "no connection could be made: \(String(cString: strerror(ENOTDIR))) (URLError -1004).")
        case .circle:
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
            return (path, "no connection could be made: \(String(cString: strerror(ELOOP))) (URLError -1004).")
        case .longPath:
            let path = path + String(repeating: "s", count: 200)
            return (path, "no connection could be made: the path of the socket is too long (URLError -1004).")
        }
        return (path, noServer)
    }

    @Test("Each error of connecting says that nothing was sent, to the retries, to people and to the log", arguments: Mistake.allCases)
    func errors(mistake: Mistake) async throws {
        let (path, words) = try await path(mistake)
        let url = try url(path)
        let error = try await #require(throws: APIError.self) { try await provider.request(Endpoint<Void>(.post, .url(url))).value }
        #expect(error.urlError?.code == .cannotConnectToHost)
        #expect(error.isTransient)
        #expect(error.description.hasSuffix(" failed: \(words)"), "\(error)")
        #expect(error.errorDescription == "The server could not be reached.")
        #expect(error.recoverySuggestion == "Check the connection, and try again.")
    }

    @Test("A request has a Host header, which servers require: localhost, or that of the endpoint", arguments: [nil, "docker"])
    func host(own: String?) async throws {
        let path = folder.url("s").path
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(HostAnswer())
                }
            }
            .bind(unixDomainSocketPath: path).get()
        let endpoint = Endpoint<String>(.get, .url(try url(path)), headers: own.map { ["Host": $0] } ?? [:])
        #expect(try await provider.request(endpoint).value == own ?? "localhost")
        try await server.close()
    }
}

/// Answers with the request's Host headers.
private final class HostAnswer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private var text = ""

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): text = head.headers["Host"].joined(separator: ", ")
        case .body: break
        case .end:
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "\(text.utf8.count)"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
