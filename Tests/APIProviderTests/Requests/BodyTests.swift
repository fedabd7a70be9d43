@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Bodies of files and forms")
struct BodyTests {
    private let folder = TemporaryFolder()

    private func file(_ name: String = "file", _ content: String = "abc") throws -> URL {
        try Data(content.utf8).write(to: folder.url(name))
        return folder.url(name)
    }

    private func twoFiles() throws -> HTTPBody {
        .multipart(try ["a", "b"].map { MultipartPart(name: $0, file: try file($0, $0), contentType: "a/b") })
    }

    private func sent(_ body: HTTPBody) throws -> PreparedRequest {
        try Endpoint<Void>(.post, "", body: body).preparedRequest(relativeTo: example)
    }

    private func boundary(of request: PreparedRequest) throws -> String {
        let type = try #require(request.headers["Content-Type"])
        let start = "multipart/form-data; boundary="
        try #require(type.hasPrefix(start))
        return String(type.dropFirst(start.count))
    }

    private func reason(_ body: HTTPBody) throws -> String {
        let error = try #require(throws: APIError.self) { try sent(body) }
        guard case .invalidRequest = error else { throw error }
        return String(error.description.dropFirst("The request was not sent: ".count))
    }

    @Test(
        "A path that is not a regular file cannot be a body, and is refused without being read",
        arguments: [
            ("missing", "No such file or directory"), (".", ""), ("link to pipe", "it is not a regular file"),
            ("pipe", "it is not a regular file; read it into memory and send that"), ("/dev/zero", "it is not a regular file"),
            ("/proc/version", FileManager.default.fileExists(atPath: "/proc/version") ? "its size is not known" : "No such file"),
        ])
    func unreadable(path: String, finding: String) throws {
        try #require(mkfifo(folder.url("pipe").path, 0o600) == 0)
        try #require(symlink("pipe", folder.url("link to pipe").path) == 0)
        let file = URL(fileURLWithPath: path, relativeTo: folder.url)
        let part = MultipartPart(name: "a", file: file, contentType: "a/b")
        for body in [.file(file, contentType: "a/b"), .multipart([part])] as [HTTPBody] {
            let reason = try reason(body)
            #expect(reason.hasPrefix("its body cannot be read from \(file.path) (\(finding)"), "\(reason)")
        }
    }

    @Test(
        "A body with an invalid URL or content type is refused",
        arguments: [
            (
                .file(example.appendingPathComponent("x"), contentType: "a/b"),
                "the URL of its body, https://api.example.com/x, is not a file URL."
            ),
            (.data(Data(), contentType: "a/b\r\nX: y"), "the content type of its body has a control character."),
            (
                .multipart([MultipartPart(name: "\"a\"\n", data: Data(), contentType: "a/b\n", fileName: "b")]),
                "the content type of the part \"%22a%22%0A\" of its body has a control character."
            ),
        ] as [(HTTPBody, String)])
    func invalid(body: HTTPBody, reason: String) throws {
        #expect(try self.reason(body) == reason)
    }

    @Test("A body has the content of its file, also of an empty one", arguments: ["abc", ""])
    func content(text: String) throws {
        #expect(try sent(.file(try file("file", text), contentType: "a/b")).bodyData == Data(text.utf8))
    }

    @Test("Two bodies are equal if their pieces are: the same data, or the same files and sizes, which are not read")
    func equality() {
        let (text, file, other) = (RequestBody(Data("a".utf8)), URL(fileURLWithPath: "/missing"), URL(fileURLWithPath: "/other"))
        func body(_ url: URL, _ count: Int) -> RequestBody { RequestBody([.file(url, count: count)]) }
        #expect(text == RequestBody(Data("a".utf8)) && text != RequestBody(Data("b".utf8)) && text != body(file, 1))
        #expect(body(file, 1) == body(file, 1) && body(file, 1) != body(file, 2) && body(file, 1) != body(other, 1))
        let parts = RequestBody([.data(Data("a".utf8)), .data(Data("b".utf8))])
        #expect(parts == RequestBody([.data(Data("a".utf8)), .data(Data("b".utf8))]) && parts != RequestBody(Data("ab".utf8)))
    }

    @Test("A body can be read twice at once, and reading nothing is not its end")
    func readers() throws {
        let body = try #require(try sent(try twoFiles()).body)
        var (first, second, contents) = (body.makeReader(), body.makeReader(), [Data(), Data()])
        while let chunk = try first.read(upToCount: 7) {
            contents[0] += chunk
            #expect(try second.read(upToCount: 0) == Data())
            contents[1] += try second.read(upToCount: 7) ?? Data()
        }
        #expect(try contents == [body.data(), body.data()] && body.data().count == body.count)
        #expect(try second.read(upToCount: 0) == nil)
    }

    #if os(Linux)
    @Test("A reader closes each file that it has read")
    func descriptors() throws {
        var reader = try #require(try sent(try twoFiles()).body).makeReader()
        var open: [[String]] = []
        while try reader.read(upToCount: 1_000) != nil { open.append(FaultyFiles.openFiles(in: folder.url)) }
        #expect(open == [[], ["a"], [], ["b"], []])
    }
    #endif

    @Test("Reading a file that was truncated or removed throws")
    func changedFile() throws {
        let file = try file()
        let body = try #require(try sent(.file(file, contentType: "a/b")).body)
        truncate(file.path, 1)
        var reader = body.makeReader()
        #expect(try reader.read(upToCount: 10) == Data("a".utf8))
        let shorter = #expect(throws: CocoaError.self) { try reader.read(upToCount: 10) }
        #expect(shorter?.localizedDescription == "the file \(file.path) has become shorter since the request was made.")
        try FileManager.default.removeItem(at: file)
        reader = body.makeReader()
        let gone = #expect(throws: CocoaError.self) { try reader.read(upToCount: 10) }
        #expect(gone?.localizedDescription == "the file \(file.path) cannot be read: No such file or directory.")
    }

    @Test("The data of a body stays as it was read when its file becomes shorter")
    func truncatedAfterReading() throws {
        let file = try file("file", String(repeating: "a", count: 100_000))
        let data = try #require(try sent(.file(file, contentType: "a/b")).body).data()
        #expect(truncate(file.path, 0) == 0)
        // Reading a page of a mapped file behind its end would end the process.
        #expect(data == Data(repeating: UInt8(ascii: "a"), count: 100_000))
    }

    @Test("Subscribing does not read the files, however large they are")
    func subscribing() throws {
        let file = folder.url("large")
        try #require(FileManager.default.createFile(atPath: file.path, contents: nil) && truncate(file.path, 1 << 30) == 0)
        let provider = DefaultAPIProvider(baseURL: example, transport: ClosureTransport { _ in .never() })
        let part = MultipartPart(name: "file", file: file, contentType: "a/b")
        let seconds = cpuSeconds { provider.request(Endpoint<Void>(.post, "", body: .multipart([part]))).subscribe().dispose() }
        #expect(seconds < 0.05)
    }

    @Test("A body that was read is sent from the beginning, and a retry has the same boundary, but another subscription does not")
    func again() async throws {
        let bodies = Log<Data?>()
        let transport = ExchangeTransport { exchange in
            // A network stack may send it twice.
            for _ in 0..<2 { bodies.append(exchange.request.bodyData) }
            exchange.complete(with: URLError(.networkConnectionLost))
            return Disposables.create()
        }
        let reading = ClosureMiddleware { request, next in
            var reader = request.body?.makeReader()
            #expect((try? reader?.read(upToCount: 2)) == Data("--".utf8))
            return next(request)
        }
        let retry = RetryMiddleware(RetryPolicy(maxAttempts: 2, baseDelay: .nanoseconds(0)))
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [reading, retry])
        let request = Endpoint<Void>(.put, "", body: try twoFiles())
        for _ in 0..<2 { await #expect(throws: APIError.self) { try await provider.request(request).value } }
        let sent = bodies.entries.compactMap { $0 }
        try #require(sent.count == 8)
        #expect(Set(sent.prefix(4)).count == 1 && Set(sent.suffix(4)).count == 1 && sent[0] != sent[4])
    }

    @Test("Fields and files are written as RFC 7578 says, and names are escaped as the WHATWG HTML standard says (4.10.21.8)")
    func multipart() throws {
        let page = try file("page.html", "<html>")
        let request = try sent(
            .multipart([
                MultipartPart(name: "title", value: "Ünïcode\n"),
                MultipartPart(
                    name: "raw", data: Data("\r\n--".utf8), contentType: "application/octet-stream", fileName: "ä;b=c%22\\'\"\r\n"),
                MultipartPart(name: "page", file: page, contentType: "text/html; charset=utf-8"),
                MultipartPart(name: "page", file: page, fileName: "other.html", contentType: "text/html"),
            ]))
        let boundary = try boundary(of: request)
        let text = [
            "--\(boundary)", #"Content-Disposition: form-data; name="title""#, "", "Ünïcode\n",
            "--\(boundary)", #"Content-Disposition: form-data; name="raw"; filename="ä;b=c%22\'%22%0D%0A""#,
            "Content-Type: application/octet-stream", "", "\r\n--",
            "--\(boundary)", #"Content-Disposition: form-data; name="page"; filename="page.html""#,
            "Content-Type: text/html; charset=utf-8", "", "<html>",
            "--\(boundary)", #"Content-Disposition: form-data; name="page"; filename="other.html""#,
            "Content-Type: text/html", "", "<html>",
            "--\(boundary)--", "",
        ].joined(separator: "\r\n")
        #expect(request.bodyData == Data(text.utf8))
    }

    @Test("A part may have a type and no file name, and may be JSON, which the provider's encoder encodes")
    func partsOfTypes() throws {
        struct Options: Encodable { let isPublic: Bool, date: Date }
        let encoder = JSONEncoder()
        (encoder.dateEncodingStrategy, encoder.keyEncodingStrategy) = (.secondsSince1970, .convertToSnakeCase)
        encoder.outputFormatting = .sortedKeys
        let body = HTTPBody.multipart([
            MultipartPart(name: "a", data: Data("<a/>".utf8), contentType: "text/xml"), MultipartPart(name: "b", data: Data("b".utf8)),
            MultipartPart(name: "c", data: Data("c".utf8), fileName: "c.bin"),
            MultipartPart(name: "d", json: Options(isPublic: true, date: Date(timeIntervalSince1970: 5))),
            MultipartPart(name: "e", json: ["isPublic": true, "tags": ["sea", nil]]), MultipartPart(name: "f", json: ["isPublic": true]),
        ])
        let request = try Endpoint<Void>(.post, "", body: body)
            .preparedRequest(relativeTo: example, encoder: encoder, mediaType: nil)
        let boundary = try boundary(of: request)
        func name(_ name: String) -> String { "Content-Disposition: form-data; name=\"\(name)\"" }
        let json = "Content-Type: application/json"
        let parts = [
            [name("a"), "Content-Type: text/xml", "", "<a/>"], [name("b"), "", "b"], [name("c") + "; filename=\"c.bin\"", "", "c"],
            [name("d"), json, "", #"{"date":5,"is_public":true}"#], [name("e"), json, "", #"{"isPublic":true,"tags":["sea",null]}"#],
            [name("f"), json, "", #"{"isPublic":true}"#],
        ]
        let text = parts.flatMap { ["--\(boundary)"] + $0 } + ["--\(boundary)--", ""]
        #expect(request.bodyData == Data(text.joined(separator: "\r\n").utf8))
        #expect(try reason(.multipart([MultipartPart(name: "a", json: [Double.nan])])).contains("cannot be encoded as JSON"))
    }

    /// A place where an app sets a `Content-Type`.
    enum Place: CaseIterable, Sendable {
        case endpoint, adapting, middleware
    }

    /// The request that is sent with a multipart body and this `Content-Type`.
    private func sent(_ type: String, by place: Place) async throws -> PreparedRequest {
        let answers = Answers(.status(200))
        let body = HTTPBody.multipart([MultipartPart(name: "a", value: "b")])
        var endpoint = Endpoint<Void>(.post, "/a", body: body)
        if place == .endpoint { endpoint.headers["Content-type"] = type }
        if place == .adapting { endpoint = endpoint.adapting { $0.headers["Content-Type"] = type } }
        let typing = ClosureMiddleware { request, next in
            var request = request
            if place == .middleware { request.headers["content-type"] = type }
            return next(request)
        }
        try await answers.provider(typing).request(endpoint).value
        return try #require(answers.requests.first)
    }

    @Test(
        "A multipart type without a boundary gets that of the body, wherever the app sets it",
        arguments: ["multipart/form-data", "Multipart/Related; type=\"a/b; boundary=c\"", "multipart/mixed;"], Place.allCases)
    func missingBoundary(type: String, place: Place) async throws {
        let request = try await sent(type, by: place)
        let sentType = try #require(request.headers["Content-Type"])
        #expect(sentType.hasPrefix("\(type); boundary=APIProvider-"))
        let boundary = try #require(sentType.split(separator: "=").last)
        #expect(try #require(request.bodyData).starts(with: Data("--\(boundary)\r\n".utf8)))
    }

    @Test(
        "A multipart body is not sent with a type by which no server can read it, wherever the app sets it",
        arguments: [
            ("application/json", "is not the type of"), ("", "is not the type of"), ("multipart", "is not the type of"),
            ("multipart/form-data; boundary=mine", "names another boundary than"),
            ("multipart/form-data; boundary=", "names another boundary than"),
        ], Place.allCases)
    func otherType(type: (String, problem: String), place: Place) async throws {
        let error = await #expect(throws: APIError.self) { try await sent(type.0, by: place) }
        #expect(error?.description.contains("its header Content-Type \(type.problem) its multipart body; leave the header out") == true)
    }

    @Test("A Content-Type of DefaultHeadersMiddleware gives way to that of the body")
    func defaultType() async throws {
        let answers = Answers(.status(200))
        let provider = answers.provider(DefaultHeadersMiddleware(["Content-type": "application/json"]))
        try await provider.request(Endpoint<Void>(.post, "/a", body: .multipart([]))).value
        try await provider.request(Endpoint<Void>(.post, "/a", body: .form([:]))).value
        let types = answers.requests.map { $0.headers["Content-Type"] ?? "" }
        #expect(types[0].hasPrefix("multipart/form-data; boundary=") && types[1] == "application/x-www-form-urlencoded")
    }

    @Test("A boundary has 32 random digits, and needs no quotes")
    func boundary() throws {
        let boundaries = try (0..<400).map { _ in try boundary(of: try sent(.multipart([]))) }
        #expect(boundaries.allSatisfy { $0.utf8.count <= 70 && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") } })
        let digits = boundaries.map { Array($0.suffix(32)) }
        for place in 0..<32 { #expect(Set(digits.map { $0[place] }) == Set("0123456789abcdef")) }
    }

    @Test("Random names and contents are encoded in the same way", arguments: [UInt64.random(in: .min ... .max), 1, 2])
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let escapes: [UInt8: String] = [34: "%22", 13: "%0D", 10: "%0A"]
        for _ in 0..<rounds(100) {
            let fields = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                (
                    name: random.text(),
                    content: Data((random.text() + "\r\n--" + random.text()).utf8) + [UInt8.random(in: 0...255, using: &random)]
                )
            }
            let parts = fields.map { MultipartPart(name: $0.name, data: $0.content, contentType: "a/b", fileName: $0.name) }
            let request = try sent(.multipart(parts))
            let boundary = try boundary(of: request)
            let text = fields.reduce(into: Data()) { text, field in
                let name = String(
                    decoding: field.name.utf8.flatMap { byte in escapes[byte].map { Array($0.utf8) } ?? [byte] }, as: UTF8.self)
                let head = "Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(name)\"\r\nContent-Type: a/b"
                text += Data("--\(boundary)\r\n\(head)\r\n\r\n".utf8) + field.content + Data("\r\n".utf8)
            }
            #expect(request.bodyData == text + Data("--\(boundary)--\r\n".utf8), "seed \(seed)")
        }
    }
}
