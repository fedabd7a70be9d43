import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import SwiftASN1
import TestSupport
import X509

/// A server that keeps connections, speaks HTTP/2 over TLS, and answers each request with the protocol that it came by.
final class Server: Sendable {
    let url: URL
    private let listener: any Channel

    /// - Parameters:
    ///   - host: An address of the loopback.
    ///   - port: Where to listen; 0 is a free port.
    ///   - tls: The certificate, and the protocols that are spoken.
    ///   - gate: What each HTTP/2 request waits for.
    ///   - closesConnections: Whether a connection is closed without a word after its response, as an idle one is.
    init(
        host: String = "127.0.0.1", port: Int = 0, tls: TLSConfiguration? = nil, gate: Gate? = nil, status: HTTPResponseStatus = .ok,
        closesConnections: Bool = false
    ) async throws {
        let context = try tls.map { try NIOSSLContext(configuration: $0) }
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                guard let context else { return channel.addAnswers(closesConnections) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }.flatMap {
                    channel.configureHTTP2SecureUpgrade(
                        h2ChannelConfigurator: { channel in
                            let limit = HTTP2Setting(parameter: .maxConcurrentStreams, value: 100)
                            return channel.configureHTTP2Pipeline(mode: .server, initialLocalSettings: [limit]) { stream in
                                stream.eventLoop.makeCompletedFuture {
                                    try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
                                    try stream.pipeline.syncOperations.addHandler(Answer(text: "by HTTP/2", status: status, gate: gate))
                                }
                            }.map { _ in }
                        },
                        http1ChannelConfigurator: { $0.addAnswers(closesConnections) })
                }
            }
            .bind(host: host, port: port).get()
        let text = "\(tls == nil ? "http" : "https")://\(host.contains(":") ? "[\(host)]" : host):\(listener.localAddress?.port ?? 0)"
        guard let url = URL(string: text) else { throw URLError(.badURL) }
        self.url = url
    }

    /// Closes the listening socket. Connections stay.
    func stop() async throws { try await listener.close() }

    deinit { listener.close(promise: nil) }
}

extension Channel {
    fileprivate func addAnswers(_ closesConnections: Bool) -> EventLoopFuture<Void> {
        eventLoop.makeCompletedFuture {
            try pipeline.syncOperations.configureHTTPServerPipeline()
            try pipeline.syncOperations.addHandler(Answer(text: "by HTTP/1.1", closesConnection: closesConnections))
        }
    }
}

/// Holds requests until a test lets them through.
final class Gate: Sendable {
    /// A signal for each request that has come.
    let arrivals = Signals<Void>()
    private let waiting = Locked<[EventLoopPromise<Void>]>([])

    /// Lets those through that have come.
    func open() {
        waiting.withLock { promises in
            defer { promises = [] }
            return promises
        }.forEach { $0.succeed() }
    }

    fileprivate func pass(on loop: any EventLoop) -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        waiting.withLock { $0.append(promise) }
        arrivals.send(())
        return promise.futureResult
    }
}

private final class Answer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    let text: String
    let status: HTTPResponseStatus
    let gate: Gate?
    let closesConnection: Bool

    init(text: String, status: HTTPResponseStatus = .ok, gate: Gate? = nil, closesConnection: Bool = false) {
        (self.text, self.status, self.gate, self.closesConnection) = (text, status, gate, closesConnection)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        guard let gate else { return respond(context) }
        gate.pass(on: context.eventLoop).assumeIsolated().whenSuccess { self.respond(context) }
    }

    private func respond(_ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: ["content-length": "\(text.utf8.count)"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if closesConnection { context.close(promise: nil) }
    }
}

extension TLSConfiguration {
    /// A server's configuration with a certificate for the loopback that nobody has signed but itself, and the certificate.
    static func selfSigned() throws -> (server: TLSConfiguration, certificate: NIOSSLCertificate) {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let name = try DistinguishedName { CommonName("loopback") }
        let address = ASN1OctetString(contentBytes: [127, 0, 0, 1])
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey, notValidBefore: Date() - 3600,
            notValidAfter: Date() + 3600, issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                SubjectAlternativeNames([.ipAddress(address), .dnsName("localhost")])
            },
            issuerPrivateKey: key)
        let pem = try NIOSSLCertificate(bytes: Array(certificate.serializeAsPEM().pemString.utf8), format: .pem)
        let pemKey = try NIOSSLPrivateKey(bytes: Array(key.serializeAsPEM().pemString.utf8), format: .pem)
        var server = makeServerConfiguration(certificateChain: [.certificate(pem)], privateKey: .privateKey(pemKey))
        server.applicationProtocols = ["h2", "http/1.1"]
        return (server, pem)
    }
}
