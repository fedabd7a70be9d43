import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// Something that goes wrong in a network, and the result of the request.
struct Fault: Sendable, CustomTestStringConvertible {
    struct Outcome: Sendable, Equatable {
        /// As the documentation has it.
        let kind: String
        /// The value, or the end of the error's sentence, with HOST and PORT for those of the URL.
        let text: String

        /// A body that cannot be decoded.
        static let cannotDecode = transport(
            "cannotDecodeRawData", -1015, "HOST sent a body that is not compressed as its Content-Encoding says")

        static func value(_ text: String) -> Outcome { Outcome(kind: "a value", text: text) }

        static func status(_ code: Int, _ end: String) -> Outcome { Outcome(kind: "`.unacceptableStatus`, \(code)", text: end) }

        /// `.transport` with a `URLError` of this name and code.
        static func transport(_ name: String, _ code: Int, _ words: String) -> Outcome {
            Outcome(kind: "`.transport`, `.\(name)`", text: "\(words) (URLError \(code)).")
        }

        func text(host: String, port: String) -> String {
            text.replacingOccurrences(of: "HOST", with: host).replacingOccurrences(of: "PORT", with: port)
        }
    }

    /// What the server does, as the documentation has it.
    let name: String
    /// `nil`: there is no server.
    var script: [Step]?
    /// Whether the request is a `POST` of more than the system buffers.
    var hasBody = false
    /// The number of bytes in the query of the request.
    var queryLength = 0
    /// Whether the request is for `https`.
    var isSecure = false
    let outcome: Outcome

    var testDescription: String { name }
    var method: String { hasBody ? "POST" : "GET" }

    /// Whether it waits for a real clock, and fails on a machine that is too busy.
    var isSlow: Bool { name.contains("every 100 ms") }

    /// Whether the server stops before the end, so that no client may take what came for the whole.
    var breaksOff: Bool { [Self.lost, Self.unsent, Self.timedOut].contains(outcome) }

    /// In seconds. It is long where it must not fire on a busy machine.
    private var timeout: TimeInterval {
        TestedTransport.outcomes(of: self).first?.kind == Self.timedOut.kind ? 0.3 : isSlow ? 3 : 600
    }

    init(_ name: String, _ outcome: Outcome, hasBody: Bool = false, queryLength: Int = 0, isSecure: Bool = false, _ script: Step...) {
        (self.name, self.outcome, self.hasBody, self.queryLength, self.isSecure) = (name, outcome, hasBody, queryLength, isSecure)
        self.script = script.isEmpty ? nil : script
    }

    /// A server that reads the request and sends `response`.
    init(_ name: String, _ outcome: Outcome, sends response: String, then next: Step...) {
        (self.name, self.outcome) = (name, outcome)
        script = [.readRequest, .send(response)] + next
    }
}

extension Fault {
    private static let maximum = 1_000_000
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static let lost = Outcome.transport(
        "networkConnectionLost", -1005, "HOST closed the connection before the response was whole; a second try may succeed")
    private static let unsent = Outcome.transport(
        "networkConnectionLost", -1005, "HOST closed the connection before its answer came; does it take a body of 5000000 bytes?")
    private static let timedOut = Outcome.transport("timedOut", -1001, "it timed out; is HOST:PORT up, and is the timeout long enough?")
    private static let noHTTP = Outcome.transport(
        "cannotParseResponse", -1017, "HOST:PORT did not answer in valid HTTP; is it a web server, and the scheme right?")
    private static let noTLS = Outcome.transport(
        "secureConnectionFailed", -1200, "no secure connection could be made; does HOST:PORT speak TLS?")
    private static let largeHead = Outcome.transport(
        "dataLengthExceedsMaximum", -1103, "the head of the request or of the response is larger than the system takes")
    private static let large = Outcome.transport(
        "dataLengthExceedsMaximum", -1103, "the response is larger than the transport's maxResponseSize of \(maximum) bytes")

    private static let tenThousand = String(repeating: "a", count: 10_000)
    private static let halfAGzip =
        Data(base64Encoded: "H4sIAAAAAAACAw3K0QnAIAwA0VVuADfoNNIoCVQDMeD6zc/9vNP+TQ==") ?? Data()

    private static let aGzip = Data(base64Encoded: "H4sIAAAAAAACA8vPBgBH3dx5AgAAAA==") ?? Data()
    private static let aGzipOfNothing = Data(base64Encoded: "H4sIAAAAAAACAwMAAAAAAAAAAAA=") ?? Data()

    static let all = [
        Fault(
            "refuses the connection",
            .transport("cannotConnectToHost", -1004, "no connection could be made; is a server listening at HOST:PORT?")),
        Fault("accepts it and is silent", timedOut, .waitUntilClosed),
        Fault("closes it without a byte", lost, .readRequest),
        Fault("closes it in the status line", lost, sends: "HTTP/1.1 20"),
        Fault("closes it in the header, after a Content-Length", lost, sends: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A"),
        Fault("closes it in the body", lost, sends: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
        Fault("closes it in a chunk", lost, sends: chunked + "ff\r\nhalf"),
        Fault("closes it between two chunks", lost, sends: chunked + "4\r\nhalf\r\n"),
        Fault("closes it after a 1xx", lost, sends: "HTTP/1.1 103 Early Hints\r\n\r\n"),
        Fault("closes it while the request's body is sent", unsent, hasBody: true, .readHead),
        Fault("closes it after a head of 20 KB", lost, queryLength: 20_000, .readSome),
        Fault("is silent after a head of 70 KB", timedOut, queryLength: 70_000, .waitUntilClosed),
        Fault("resets it at once", lost, .readRequest, .reset),
        Fault("resets it in the body", lost, sends: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", then: .reset),
        Fault("resets it while the request's body is sent", unsent, hasBody: true, .readHead, .reset),
        Fault("sends garbage", noHTTP, sends: "\u{1}\u{2}garbage\r\n\r\n"),
        Fault("speaks TLS where plain HTTP is expected", noHTTP, .readRequest, .send(Data([0x15, 3, 1, 0, 2, 2, 0x28]))),
        Fault(
            "speaks plain HTTP where TLS is expected", noTLS, isSecure: true, .readSome,
            .send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")),
        Fault("closes it in the TLS handshake", noTLS, isSecure: true, .readSome, .send(Data([0x16, 3, 3, 0, 90, 2]))),
        Fault("resets it in the TLS handshake", lost, isSecure: true, .readSome, .send(Data([0x16, 3, 3, 0, 90, 2])), .reset),
        Fault("sends a status line that ends after the status", noHTTP, sends: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"),
        Fault(
            "sends a header in Latin-1", noHTTP, .readRequest,
            .send(Data("HTTP/1.1 200 OK\r\nX-A: n".utf8) + [0xE9] + Data("\r\nContent-Length: 2\r\n\r\nok".utf8))),
        Fault("sends a header without a space after its colon", noHTTP, sends: "HTTP/1.1 200 OK\r\nContent-Length:2\r\n\r\nok"),
        Fault("sends a header line that ends in LF alone", noHTTP, sends: "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
        Fault("sends a status line with no status", noHTTP, sends: "HTTP/1.1 OK\r\nContent-Length: 0\r\n\r\n"),
        Fault("sends a status of five digits", noHTTP, sends: "HTTP/1.1 20000 OK\r\nContent-Length: 0\r\n\r\n"),
        Fault("sends a status below 100", noHTTP, sends: "HTTP/1.1 010 x\r\nContent-Length: 2\r\n\r\nok"),
        Fault("sends a status of zero and no length", noHTTP, sends: "HTTP/1.1 000 x\r\n\r\nok"),
        Fault("sends a header line without a colon", noHTTP, sends: "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n"),
        Fault("sends a Content-Length that is no number", noHTTP, sends: "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nok"),
        Fault(
            "sends a Content-Length that is too long, and waits", timedOut,
            sends: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", then: .waitUntilClosed),
        Fault("sends a Content-Length that is too short", .value("ok"), sends: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokok"),
        Fault("sends a chunk with a bad size", noHTTP, sends: chunked + "zz\r\nhalf\r\n0\r\n\r\n"),
        Fault("sends a chunk that is longer than its size", noHTTP, sends: chunked + "2\r\nhalf\r\n0\r\n\r\n"),
        Fault(
            "says gzip but sends something else", .cannotDecode,
            sends: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd"),
        Fault(
            "sends a gzip that breaks off, under a Content-Length that fits", .value("half"), .readRequest,
            .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(halfAGzip.count)\r\n\r\n"), .send(halfAGzip)),
        Fault(
            "sends the beginning of a gzip, under the Content-Length of the plain text", .cannotDecode, .readRequest,
            .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\n"), .send(halfAGzip)),
        Fault(
            "sends zeros behind the end of a gzip",
            .transport(
                "cannotDecodeRawData", -1015,
                "HOST sent a compressed body that has data after its end, which Foundation on Linux does not read; "
                    + "ask for it uncompressed, with the header Accept-Encoding: identity"), .readRequest,
            .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(aGzip.count + 8)\r\n\r\n"),
            .send(aGzip + Data(count: 8))),
        Fault(
            "sends the gzip of nothing", .value(""), .readRequest,
            .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(aGzipOfNothing.count)\r\n\r\n"), .send(aGzipOfNothing)),
        Fault(
            "names gzip, and sends no byte of it", .value(""),
            sends: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Fault(
            "uses an unknown encoding",
            .transport("cannotDecodeContentData", -1016, "HOST sent a body with the Content-Encoding rot13, which is not known here"),
            sends: "HTTP/1.1 200 OK\r\nContent-Encoding: rot13\r\nContent-Length: 2\r\n\r\nbx"),
        Fault(
            "names a charset as the Content-Encoding",
            .transport("cannotDecodeContentData", -1016, "HOST sent a body with the Content-Encoding utf-8, which is not known here"),
            sends: "HTTP/1.1 200 OK\r\nContent-Encoding: utf-8\r\nContent-Length: 2\r\n\r\nok"),
        Fault(
            "sends a header line that never ends", largeHead, sends: "HTTP/1.1 200 OK\r\nX-A: ",
            then: .sendForever(tenThousand)),
        Fault(
            "sends headers that never end", largeHead, sends: "HTTP/1.1 200 OK\r\n",
            then: .sendForever("X-A: \(tenThousand)\r\n")),
        Fault(
            "sends a 1xx for ever", largeHead, sends: "",
            then: .sendForever("HTTP/1.1 103 Early Hints\r\nLink: \(tenThousand)\r\n\r\n")),
        Fault(
            "sends a body that never ends", large, sends: "HTTP/1.1 200 OK\r\n\r\n",
            then: .sendForever(tenThousand)),
        Fault(
            "sends chunks that never end", large, sends: chunked, then: .sendForever("2710\r\n\(tenThousand)\r\n")),
        Fault(
            "sends one byte every 100 ms", .value("slower than the timeout, but never silent"),
            sends: "HTTP/1.1 200 OK\r\nContent-Length: 41\r\n\r\n", then: .drip("slower than the timeout, but never silent")),
        Fault(
            "sends several 1xx before the 200", .value("ok"),
            sends: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
            then: .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")),
        Fault(
            "redirects in a circle", .transport("httpTooManyRedirects", -1007, "it was redirected more than 20 times"),
            sends: "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        Fault(
            "redirects to a URL without a host", .status(302, "302 Found: its Location has no host (5 bytes)."),
            sends: "HTTP/1.1 302 Found\r\nLocation: http:///x\r\nContent-Length: 5\r\n\r\nmoved"),
        Fault(
            "redirects to a port above 65535", .status(302, "302 Found: its Location has the port 70000; the highest is 65535 (5 bytes)."),
            sends: "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:70000/\r\nContent-Length: 5\r\n\r\nmoved"),
        Fault(
            "asks for a password, with a body", .status(401, "401 Unauthorized (12 bytes)."),
            sends: "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 12\r\n\r\nwho are you?"),
        Fault("sends a 204 with a body", .value(""), sends: "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody"),
        Fault("sends a body with no length, and closes", .value("ok"), sends: "HTTP/1.1 200 OK\r\n\r\nok"),
        Fault(
            "answers before it has read the request's body", .status(413, "413 Content Too Large (2 bytes)."), hasBody: true, .readHead,
            .send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")),
        Fault("answers before it has read anything", .value("ok"), hasBody: true, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")),
    ]

    /// Sends the request and returns its result. Both ends are closed by then.
    func run() async throws -> (url: URL, result: Result<String, any Error>) {
        let server = try script.map { try LoopbackServer($0) }
        var url = try server?.url ?? LoopbackServer.refusingURL()
        if isSecure { url = URL(string: "https:\(url.absoluteString.dropFirst(5))") ?? url }
        let body = HTTPBody.data(Data(count: 5_000_000), contentType: "application/octet-stream")
        let query: QueryParameters = queryLength > 0 ? ["q": String(repeating: "a", count: queryLength)] : [:]
        let request = Endpoint<String>(
            hasBody ? .post : .get, .url(url), query: query, body: hasBody ? body : nil, timeoutInterval: timeout)
        let configuration = URLSessionConfiguration.patient
        #if !canImport(FoundationNetworking)
        // Apple documents no limit for the head of a response, which would go on for ever.
        configuration.timeoutIntervalForResource = 10
        #endif
        // The client keeps a connection until it is released.
        let result = await Self.result {
            DefaultAPIProvider(transport: TestedTransport(configuration: configuration, maxResponseSize: Self.maximum)).request(request)
        }
        await server?.allClosed()
        return (url, result)
    }

    private static func result(of single: () -> Single<String>) async -> Result<String, any Error> {
        do { return .success(try await single().value) } catch { return .failure(error) }
    }
}

extension Fault {
    /// Whether `result` is what `outcome` says.
    func has(_ outcome: Outcome, as result: Result<String, any Error>, of url: URL) -> Bool {
        switch result {
        case .success(let value): return outcome == .value(value)
        case .failure(let error):
            let sentence = outcome.text(host: "127.0.0.1", port: "\(url.port ?? 0)")
            return error is APIError && "\(error)".hasPrefix("\(method) \(url)") && "\(error)".hasSuffix(" failed: \(sentence)")
        }
    }

    /// The fault's row in the documentation.
    var row: String {
        let text = outcome.text(host: "example.com", port: isSecure ? "443" : "80")
        return "| \(name) | \(outcome.kind) | \(text.isEmpty ? "(nothing)" : text) |"
    }
}
