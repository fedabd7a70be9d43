import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Bodies of files and forms")
struct BodyTests {
    let folder = TemporaryFolder()

    @Test("An empty file is an empty body")
    func emptyFile() throws {
        try Data().write(to: folder.url("empty"))
        #expect(content(of: try sent(.file(folder.url("empty"), contentType: "a/b"))) == Data())
    }

    struct Invalid: Sendable, CustomTestStringConvertible {
        let body: HTTPBody
        let reason: String
        var testDescription: String { reason }
    }

    private static let missing = URL(fileURLWithPath: "/nowhere/at/all")
    private static let web = example.appendingPathComponent("x")

    @Test(
        "A body that cannot be sent says why",
        arguments: [
            Invalid(
                body: .file(missing, contentType: "a/b"), reason: "its body cannot be read from /nowhere/at/all (\(noSuchFile))."),
            Invalid(
                body: .multipart([MultipartPart(name: "a", file: missing, contentType: "a/b")]),
                reason: "its body cannot be read from /nowhere/at/all (\(noSuchFile))."),
            Invalid(
                body: .file(web, contentType: "a/b"), reason: "the URL of its body, https://api.example.com/x, is not a file URL."),
            Invalid(
                body: .data(Data(), contentType: "a/b\r\nX: y"), reason: "the content type of its body has a control character."),
            Invalid(
                body: .multipart([MultipartPart(name: "\"a\"\n", fileName: "b", contentType: "a/b\n", data: Data())]),
                reason: "the content type of the part \"%22a%22%0A\" of its body has a control character."),
            Invalid(
                body: .multipart([MultipartPart(name: "a", fileName: "b", contentType: "a\0b", data: Data())]),
                reason: "the content type of the part \"a\" of its body has a control character."),
        ])
    func invalid(row: Invalid) throws {
        let error = try #require(throws: APIError.self) { try sent(row.body) }
        guard case .invalidRequest = error else {
            Issue.record("\(error)")
            return
        }
        #expect(error.description == "The request was not sent: " + row.reason)
    }

    @Test("A folder cannot be a body")
    func folderAsBody() throws {
        let error = try #require(throws: APIError.self) { try sent(.file(folder.url, contentType: "a/b")) }
        #expect(error.description.hasPrefix("The request was not sent: its body cannot be read from \(folder.url.path) ("))
    }

    enum NoFile: String, CaseIterable { case pipe, linkToPipe, device }

    @Test("A pipe or a device cannot be a body, and is refused without being read", arguments: NoFile.allCases, [true, false])
    func pipeAsBody(kind: NoFile, isPart: Bool) throws {
        let (pipe, link) = (folder.url("pipe"), folder.url("link"))
        try #require(mkfifo(pipe.path, 0o600) == 0)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: pipe)
        let file = [.pipe: pipe, .linkToPipe: link, .device: URL(fileURLWithPath: "/dev/zero")][kind] ?? pipe
        let body = HTTPBody.file(file, contentType: "a/b")
        let error = try #require(throws: APIError.self) {
            try sent(isPart ? .multipart([MultipartPart(name: "a", file: file, contentType: "a/b")]) : body)
        }
        let reason = "its body cannot be read from \(file.path) (it is not a regular file; read it into memory and send that)."
        #expect(error.description == "The request was not sent: " + reason)
    }

    @Test("Fields and files are written as RFC 7578 says")
    func multipart() throws {
        try Data("<html>".utf8).write(to: folder.url("page.html"))
        let request = try sent(
            .multipart([
                MultipartPart(name: "title", value: "Ünïcode\n"),
                MultipartPart(name: "raw", fileName: "a b.bin", contentType: "application/octet-stream", data: Data("\r\n--".utf8)),
                MultipartPart(name: "page", file: folder.url("page.html"), contentType: "text/html; charset=utf-8"),
                MultipartPart(name: "page", file: folder.url("page.html"), fileName: "other.html", contentType: "text/html"),
            ]))
        let boundary = try boundary(of: request)
        let text = [
            "--\(boundary)", #"Content-Disposition: form-data; name="title""#, "", "Ünïcode\n",
            "--\(boundary)", #"Content-Disposition: form-data; name="raw"; filename="a b.bin""#,
            "Content-Type: application/octet-stream", "", "\r\n--",
            "--\(boundary)", #"Content-Disposition: form-data; name="page"; filename="page.html""#,
            "Content-Type: text/html; charset=utf-8", "", "<html>",
            "--\(boundary)", #"Content-Disposition: form-data; name="page"; filename="other.html""#,
            "Content-Type: text/html", "", "<html>",
            "--\(boundary)--", "",
        ].joined(separator: "\r\n")
        #expect(content(of: request) == Data(text.utf8))
    }

    @Test("A body of files has a length, and can be sent again")
    func again() async throws {
        try Data(repeating: 1, count: 100_000).write(to: folder.url("first"))
        try Data("abc".utf8).write(to: folder.url("second"))
        let body = HTTPBody.multipart(["first", "second"].map { MultipartPart(name: $0, file: folder.url($0), contentType: "a/b") })
        let exchanges = Log<Exchange>()
        let transport = ExchangeTransport { exchange in
            exchanges.append(exchange)
            // A network stack may send it twice.
            for _ in 0..<2 { #expect(content(of: exchange.request)?.count == exchange.request.body?.count) }
            exchange.complete(with: URLError(.networkConnectionLost))
            return Disposables.create()
        }
        let retry = RetryMiddleware(RetryPolicy(maxAttempts: 2, baseDelay: .nanoseconds(0)))
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [retry])
        await #expect(throws: APIError.self) { try await provider.request(Endpoint<Void>(.put, "", body: body)).value }
        #expect(exchanges.count == 2)
        #expect(exchanges.entries.allSatisfy { ($0.request.body?.count ?? 0) > 100_000 })
    }

    @Test("A file that became shorter ends its stream with an error, and one that has gone is an invalid request")
    func changedFile() async throws {
        let file = folder.url("file")
        try Data("abc".utf8).write(to: file)
        let request = try sent(.file(file, contentType: "a/b"))
        try Data("a".utf8).write(to: file)
        var reader = try #require(request.body).makeReader()
        #expect(try reader.read(upToCount: 10) == Data("a".utf8))
        let shorter = #expect(throws: CocoaError.self) { try reader.read(upToCount: 10) }
        #expect(shorter?.localizedDescription == "the file \(file.path) has become shorter since the request was made.")

        var other = try #require(try sent(.file(file, contentType: "a/b")).body).makeReader()
        try FileManager.default.removeItem(at: file)
        let gone = #expect(throws: CocoaError.self) { try other.read(upToCount: 10) }
        #expect(gone?.localizedDescription == "the file \(file.path) cannot be read: No such file or directory.")
        try Data("a".utf8).write(to: file)

        let removing = Removing(file: file)
        let provider = DefaultAPIProvider(baseURL: example, configuration: .ephemeral, middlewares: [removing])
        let error = await #expect(throws: APIError.self) {
            try await provider.request(Endpoint<Void>(.put, "", body: .file(file, contentType: "a/b"))).value
        }
        #expect(error?.description == "The request was not sent: its body cannot be read (\(noSuchFile)).")
    }

    @Test("A body can be read twice at once, and reading nothing is not its end")
    func readers() throws {
        for name in ["a", "b"] { try Data(name.utf8).write(to: folder.url(name)) }
        let parts = ["a", "b"].map { MultipartPart(name: $0, file: folder.url($0), contentType: "a/b") }
        let body = try #require(try sent(.multipart(parts)).body)
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
    @Test("A reader holds no file open that has been read")
    func descriptors() throws {
        for name in ["a", "b"] { try Data(name.utf8).write(to: folder.url(name)) }
        let parts = ["a", "b"].map { MultipartPart(name: $0, file: folder.url($0), contentType: "a/b") }
        var reader = try #require(try sent(.multipart(parts)).body).makeReader()
        var open: [[String]] = []
        while try reader.read(upToCount: 1_000) != nil { open.append(FaultyFiles.openFiles(in: folder.url)) }
        #expect(open == [[], ["a"], [], ["b"], []])
    }
    #endif

    private struct Removing: Middleware {
        let file: URL

        func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
            try? FileManager.default.removeItem(at: file)
            return next(request)
        }
    }

    @Test("Subscribing reads nothing of the files, however large they are")
    func subscribing() throws {
        let file = folder.url("large")
        try #require(FileManager.default.createFile(atPath: file.path, contents: nil) && truncate(file.path, 1 << 30) == 0)
        let provider = DefaultAPIProvider(baseURL: example, transport: ClosureTransport { _ in .never() })
        let part = MultipartPart(name: "file", file: file, contentType: "a/b")
        let seconds = cpuSeconds { provider.request(Endpoint<Void>(.post, "", body: .multipart([part]))).subscribe().dispose() }
        #expect(seconds < 0.05)
    }

    @Test("The body of a prepared request has the content of its files")
    func inMemory() throws {
        try Data("abc".utf8).write(to: folder.url("file"))
        let request = try Endpoint<Void>(.post, .url(example), body: .file(folder.url("file"), contentType: "a/b"))
            .preparedRequest()
        #expect(request.bodyData == Data("abc".utf8))
    }

    @Test("What a middleware has read is sent from the beginning, and once more by a retry")
    func readBefore() async throws {
        try Data("abc".utf8).write(to: folder.url("file"))
        let bodies = Log<Data?>()
        let transport = ClosureTransport { request in
            bodies.append(content(of: request))
            return .error(APIError.transport(request, underlying: URLError(.networkConnectionLost)))
        }
        let retry = RetryMiddleware(RetryPolicy(maxAttempts: 2, baseDelay: .nanoseconds(0)))
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [Reading(), retry])
        let request = Endpoint<Void>(.put, "", body: .file(folder.url("file"), contentType: "a/b"))
        await #expect(throws: APIError.self) { try await provider.request(request).value }
        #expect(bodies.entries == [Data("abc".utf8), Data("abc".utf8)])
    }

    private struct Reading: Middleware {
        func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
            var reader = request.body?.makeReader()
            #expect((try? reader?.read(upToCount: 2)) == Data("ab".utf8))
            return next(request)
        }
    }

    @Test(
        "Names and file names are escaped as the WHATWG HTML standard says (4.10.21.8)",
        arguments: [
            ("a\"b", "a%22b"), ("a\rb", "a%0Db"), ("a\nb", "a%0Ab"), ("a\r\nb", "a%0D%0Ab"), ("ä 한", "ä 한"), ("a%22\\'b", "a%22\\'b"),
            ("", ""), ("a;b=c", "a;b=c"),
        ])
    func escaping(name: String, escaped: String) throws {
        let body = try #require(
            try sent(.multipart([MultipartPart(name: name, fileName: name, contentType: "a/b", data: Data())])).bodyData)
        let line = "Content-Disposition: form-data; name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n"
        #expect(String(decoding: body, as: UTF8.self).contains(line))
    }

    @Test("A boundary has 128 random bits, and needs no quotes")
    func boundary() throws {
        let boundaries = try (0..<200).map { _ in try boundary(of: try sent(.multipart([]))) }
        #expect(boundaries.allSatisfy { $0.utf8.count <= 70 && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") } })
        let numbers = boundaries.map { boundary in [boundary.dropLast(16), boundary[...]].map { UInt64($0.suffix(16), radix: 16) ?? 0 } }
        for half in 0..<2 {
            // Each bit is set in some, and not in others.
            #expect(numbers.reduce(0) { $0 | $1[half] } == .max)
            #expect(numbers.reduce(.max) { $0 & $1[half] } == 0)
        }
    }

    @Test("A request that is sent again has the same boundary, and another subscription has another")
    func boundaryOfRetry() async throws {
        let sent = Log<PreparedRequest>()
        let transport = ClosureTransport { request in
            sent.append(request)
            return .error(APIError.transport(request, underlying: URLError(.networkConnectionLost)))
        }
        let retry = RetryMiddleware(RetryPolicy(maxAttempts: 2, baseDelay: .nanoseconds(0)))
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [retry])
        let request = Endpoint<Void>(.put, "", body: .multipart([MultipartPart(name: "a", value: "b")]))
        for _ in 0..<2 { await #expect(throws: APIError.self) { try await provider.request(request).value } }
        let boundaries = try sent.entries.map { try boundary(of: $0) }
        try #require(boundaries.count == 4)
        #expect(boundaries[0] == boundaries[1] && boundaries[2] == boundaries[3] && boundaries[0] != boundaries[2])
        #expect(sent.entries[0].bodyData == sent.entries[1].bodyData)
    }

    @Test("What is sent can be read back", arguments: [UInt64.random(in: .min ... .max), 1, 2])
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var boundaries = ["--"]
        for _ in 0..<200 {
            let fields = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                let pieces = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                    [random.text(), "\r\n", "--", boundaries.randomElement(using: &random) ?? ""].randomElement(using: &random) ?? ""
                }
                return (name: random.text(), content: Data(pieces.joined().utf8) + [UInt8.random(in: 0...255, using: &random)])
            }
            let body = HTTPBody.multipart(
                fields.map { MultipartPart(name: $0.name, fileName: $0.name, contentType: "a/b", data: $0.content) })
            let request = try sent(body)
            let boundary = try boundary(of: request)
            boundaries.append(boundary)
            let parsed = try #require(parts(of: request.bodyData ?? Data(), boundary: boundary), "seed \(seed)")
            #expect(parsed.map(\.content) == fields.map(\.content), "seed \(seed)")
            #expect(parsed.map(\.name) == fields.map(\.name), "seed \(seed)")
        }
    }

    private func sent(_ body: HTTPBody) throws -> PreparedRequest {
        try Endpoint<Void>(.post, "", body: body).preparedRequest(relativeTo: example, encoder: JSONEncoder(), mediaType: nil)
    }

    /// The body, read in chunks.
    private func content(of request: PreparedRequest) -> Data? {
        guard var reader = request.body?.makeReader() else { return nil }
        var content = Data()
        while let chunk = try? reader.read(upToCount: 1000) { content += chunk }
        return content
    }

    private func boundary(of request: PreparedRequest) throws -> String {
        let type = try #require(request.headers["Content-Type"])
        let start = "multipart/form-data; boundary="
        try #require(type.hasPrefix(start))
        return String(type.dropFirst(start.count))
    }

    /// A reader of RFC 2046, section 5.1, that knows nothing of the writer.
    private func parts(of body: Data, boundary: String) -> [(name: String, content: Data)]? {
        var rest = Data("\r\n".utf8) + body
        let delimiter = Data("\r\n--\(boundary)".utf8)
        var parts: [(name: String, content: Data)] = []
        guard let first = rest.range(of: delimiter), first.lowerBound == rest.startIndex else { return nil }
        rest = Data(rest[first.upperBound...])
        while !rest.starts(with: Data("--".utf8)) {
            guard rest.starts(with: Data("\r\n".utf8)), let end = rest.range(of: delimiter),
                let blank = rest[..<end.lowerBound].range(of: Data("\r\n\r\n".utf8))
            else { return nil }
            guard let start = rest[..<blank.lowerBound].range(of: Data("name=\"".utf8)) else { return nil }
            var name = Data(rest[start.upperBound...].prefix { $0 != UInt8(ascii: "\"") })
            for (escape, byte) in [("%22", "\""), ("%0D", "\r"), ("%0A", "\n")] {
                while let range = name.range(of: Data(escape.utf8)) { name.replaceSubrange(range, with: Data(byte.utf8)) }
            }
            parts.append((String(decoding: name, as: UTF8.self), Data(rest[blank.upperBound..<end.lowerBound])))
            rest = Data(rest[end.upperBound...])
        }
        return rest == Data("--\r\n".utf8) ? parts : nil
    }
}

/// What the platform says of a file that is not there.
private let noSuchFile = "No such file or directory"
