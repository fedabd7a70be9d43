import APIProvider
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

    enum Unreadable: String, CaseIterable { case missing, folder, pipe, linkToPipe, device }

    @Test(
        "A path that is not a regular file cannot be a body, and is refused without being read", arguments: Unreadable.allCases,
        [true, false])
    func unreadable(kind: Unreadable, isPart: Bool) throws {
        let (pipe, link) = (folder.url("pipe"), folder.url("link"))
        try #require(mkfifo(pipe.path, 0o600) == 0)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: pipe)
        let (file, finding) =
            switch kind {
            case .missing: (folder.url("missing"), "No such file or directory")
            case .folder: (folder.url, "")
            case .pipe: (pipe, "it is not a regular file; read it into memory and send that")
            case .linkToPipe: (link, "it is not a regular file; read it into memory and send that")
            case .device: (URL(fileURLWithPath: "/dev/zero"), "it is not a regular file; read it into memory and send that")
            }
        let part = MultipartPart(name: "a", file: file, contentType: "a/b")
        let reason = try reason(isPart ? .multipart([part]) : .file(file, contentType: "a/b"))
        #expect(reason.hasPrefix("its body cannot be read from \(file.path) (\(finding)"), "\(reason)")
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
                .multipart([MultipartPart(name: "\"a\"\n", fileName: "b", contentType: "a/b\n", data: Data())]),
                "the content type of the part \"%22a%22%0A\" of its body has a control character."
            ),
            (
                .multipart([MultipartPart(name: "a", fileName: "b", contentType: "a\0b", data: Data())]),
                "the content type of the part \"a\" of its body has a control character."
            ),
        ] as [(HTTPBody, String)])
    func invalid(body: HTTPBody, reason: String) throws {
        #expect(try self.reason(body) == reason)
    }

    @Test("A body has the content of its file, also of an empty one", arguments: ["abc", ""])
    func content(text: String) throws {
        let request = try sent(.file(try file("file", text), contentType: "a/b"))
        #expect(request.bodyData == Data(text.utf8))
        #expect(request.body?.count == text.utf8.count)
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

    @Test("A file that became shorter, or was removed, is an error of the reader")
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

    @Test("A file that was removed before it is sent makes the request invalid")
    func removedFile() async throws {
        struct Removing: Middleware {
            let file: URL

            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
                try? FileManager.default.removeItem(at: file)
                return next(request)
            }
        }
        let file = try file()
        let provider = DefaultAPIProvider(baseURL: example, configuration: .ephemeral, middlewares: [Removing(file: file)])
        let error = await #expect(throws: APIError.self) {
            try await provider.request(Endpoint<Void>(.put, "", body: .file(file, contentType: "a/b"))).value
        }
        #expect(error?.description == "The request was not sent: its body cannot be read (No such file or directory).")
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

    /// Reads the beginning of each body.
    private struct Reading: Middleware {
        func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
            var reader = request.body?.makeReader()
            #expect((try? reader?.read(upToCount: 2)) == Data("--".utf8))
            return next(request)
        }
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
        let retry = RetryMiddleware(RetryPolicy(maxAttempts: 2, baseDelay: .nanoseconds(0)))
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [Reading(), retry])
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
                    name: "raw", fileName: "ä;b=c%22\\'\"\r\n", contentType: "application/octet-stream", data: Data("\r\n--".utf8)),
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

    @Test("A form reads back as it was written", arguments: [UInt64.random(in: .min ... .max), 1, 2])
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var boundaries = ["--"]
        for _ in 0..<rounds(100) {
            let fields = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                let pieces = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                    [random.text(), "\r\n", "--", boundaries.randomElement(using: &random) ?? ""].randomElement(using: &random) ?? ""
                }
                return (name: random.text(), content: Data(pieces.joined().utf8) + [UInt8.random(in: 0...255, using: &random)])
            }
            let request = try sent(
                .multipart(fields.map { MultipartPart(name: $0.name, fileName: $0.name, contentType: "a/b", data: $0.content) }))
            let boundary = try boundary(of: request)
            boundaries.append(boundary)
            let parsed = try #require(parts(of: request.bodyData ?? Data(), boundary: boundary), "seed \(seed)")
            #expect(parsed.map(\.content) == fields.map(\.content), "seed \(seed)")
            #expect(parsed.map(\.name) == fields.map(\.name), "seed \(seed)")
        }
    }

    /// A reader of RFC 2046, section 5.1, that shares nothing with the writer.
    private func parts(of body: Data, boundary: String) -> [(name: String, content: Data)]? {
        var rest = Data("\r\n".utf8) + body
        let delimiter = Data("\r\n--\(boundary)".utf8)
        var parts: [(name: String, content: Data)] = []
        guard let first = rest.range(of: delimiter), first.lowerBound == rest.startIndex else { return nil }
        rest = Data(rest[first.upperBound...])
        while !rest.starts(with: Data("--".utf8)) {
            guard rest.starts(with: Data("\r\n".utf8)), let end = rest.range(of: delimiter),
                let blank = rest[..<end.lowerBound].range(of: Data("\r\n\r\n".utf8)),
                let start = rest[..<blank.lowerBound].range(of: Data("name=\"".utf8))
            else { return nil }
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
