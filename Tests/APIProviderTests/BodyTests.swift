import APIProvider
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Bodies of files and forms")
struct BodyTests {
    let folder = TemporaryFolder()

    @Test("A file is sent as it is")
    func file() async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = folder.url("photo.jpg")
        try bytes.write(to: file)
        let request = Endpoint<Empty>(.put, .url(server.url), body: .file(file, contentType: "image/jpeg"))
        _ = try await DefaultAPIProvider(baseURL: example, configuration: .ephemeral).request(request).value
        #expect(server.requests.first?.body == bytes)
        #expect(server.requests.first?.headers["content-type"] == "image/jpeg")
    }

    @Test("An empty file is an empty body")
    func emptyFile() throws {
        try Data().write(to: folder.url("empty"))
        #expect(try sent(.file(folder.url("empty"), contentType: "a/b")).httpBody == Data())
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
                body: .file(web, contentType: "a/b"), reason: "its body is to come from https://api.example.com/x, which is no file."),
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

    @Test("A folder is no body")
    func folderAsBody() throws {
        let error = try #require(throws: APIError.self) { try sent(.file(folder.url, contentType: "a/b")) }
        #expect(error.description.hasPrefix("The request was not sent: its body cannot be read from \(folder.url.path) ("))
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
        #expect(request.httpBody == Data(text.utf8))
    }

    @Test(
        "Names and file names are escaped as the WHATWG HTML standard says (4.10.21.8)",
        arguments: [
            ("a\"b", "a%22b"), ("a\rb", "a%0Db"), ("a\nb", "a%0Ab"), ("a\r\nb", "a%0D%0Ab"), ("ä 한", "ä 한"), ("a%22\\'b", "a%22\\'b"),
            ("", ""), ("a;b=c", "a;b=c"),
        ])
    func escaping(name: String, escaped: String) throws {
        let body = try #require(
            try sent(.multipart([MultipartPart(name: name, fileName: name, contentType: "a/b", data: Data())])).httpBody)
        let line = "Content-Disposition: form-data; name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n"
        #expect(String(decoding: body, as: UTF8.self).contains(line))
    }

    @Test("No parts are the end alone")
    func noParts() throws {
        let request = try sent(.multipart([]))
        #expect(request.httpBody == Data("--\(try boundary(of: request))--\r\n".utf8))
    }

    @Test("The boundary is one of RFC 2046, needs no quotes, and is in none of the parts")
    func boundary() throws {
        var content = "x"
        for _ in 0..<50 {
            let request = try sent(
                .multipart([
                    MultipartPart(name: content, value: content),
                    MultipartPart(name: "f", fileName: "f", contentType: "a/b", data: Data(content.utf8)),
                ]))
            let boundary = try boundary(of: request)
            #expect(!content.contains(boundary))
            #expect(1...70 ~= boundary.utf8.count)
            #expect(boundary.utf8.allSatisfy { "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.+".utf8.contains($0) })
            content = Bool.random() ? content + boundary : "\(boundary)AAPIProvider-\(content)"
        }
    }

    @Test("What is sent can be read back, and is the same each time", arguments: [UInt64.random(in: .min ... .max), 1, 2])
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
            #expect(try sent(body).httpBody == request.httpBody, "seed \(seed)")
            let boundary = try boundary(of: request)
            boundaries.append(boundary)
            let parsed = try #require(parts(of: request.httpBody ?? Data(), boundary: boundary), "seed \(seed)")
            #expect(parsed.map(\.content) == fields.map(\.content), "seed \(seed)")
            #expect(parsed.map(\.name) == fields.map(\.name), "seed \(seed)")
        }
    }

    private func sent(_ body: HTTPBody) throws -> URLRequest {
        try Endpoint<Empty>(.post, "", body: body).urlRequest(relativeTo: example)
    }

    private func boundary(of request: URLRequest) throws -> String {
        let type = try #require(request.value(forHTTPHeaderField: "Content-Type"))
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
