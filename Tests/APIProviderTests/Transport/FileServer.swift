import Foundation
import TestSupport
import Testing

/// What a server of one file does with a request: it answers ranges as RFC 9110 says, and each property is a way not to.
struct FileAnswer: Sendable {
    var status: String?
    var eTag: String? = "\"v1\""
    var body = FileAnswer.body
    /// The number of bytes after which the connection closes.
    var breaksOffAfter: Int?
    /// The number of bytes that a part has at most, and says so.
    var partCount: Int?
    var isReset = false
    var ignoresRange = false
    /// Fields in place of those that the server would send; an empty one is left out.
    var headers: [String: String] = [:]

    static let body = (0..<4_000).map { "\($0 + 10_000)" }.joined()
    static let changedBody = String(body.reversed())

    func send(to request: LoopbackServer.Request, _ connection: Connection) {
        let bytes = Data(body.utf8)
        var (status, part) = ("200 OK", bytes)
        var fields = ["ETag": eTag ?? "", "Connection": "close"]
        if let start = start(request), start < bytes.count {
            part = Data(bytes[start...].prefix(partCount ?? .max))
            (status, fields["Content-Range"]) = ("206 Partial Content", "bytes \(start)-\(start + part.count - 1)/\(bytes.count)")
        }
        if let own = self.status { (status, part) = (own, own.hasPrefix("2") ? part : Data("no".utf8)) }
        fields["Content-Length"] = "\(part.count)"
        fields.merge(headers) { $1 }
        let head = fields.filter { !$0.value.isEmpty }.map { "\($0): \($1)\r\n" }.joined()
        connection.send("HTTP/1.1 \(status)\r\n\(head)\r\n")
        connection.send(part.prefix(breaksOffAfter ?? .max))
        if isReset { connection.reset() }
    }

    private func start(_ request: LoopbackServer.Request) -> Int? {
        guard !ignoresRange, request.headers["if-range"] ?? eTag == eTag, let range = request.headers["range"] else { return nil }
        return Int(range.dropFirst("bytes=".count).prefix { $0 != "-" })
    }
}

/// A suite of downloads to one file.
protocol DownloadSuite {
    var folder: TemporaryFolder { get }
}

extension DownloadSuite {
    var destination: URL { folder.url("file.bin") }

    /// The hidden folder of a download that has stopped.
    var keptFolder: URL { folder.url(".file.bin.partial") }

    /// Its files.
    var keptNames: [String] { (try? FileManager.default.contentsOfDirectory(atPath: keptFolder.path))?.sorted() ?? [] }

    /// The bytes of a download that has stopped.
    var kept: URL { keptFolder.appendingPathComponent(keptNames.first ?? "none") }

    /// Whether these bytes are kept, and nothing else, and survive a restart of the system.
    func expectKept(_ bytes: String.SubSequence) throws {
        #expect(keptNames.count == 1 && keptNames[0].hasPrefix("0,"), "\(keptNames)")
        #expect(try Data(contentsOf: kept) == Data(bytes.utf8))
    }

    func expectOnlyFile(_ body: String = FileAnswer.body) throws {
        #expect(try String(contentsOf: destination, encoding: .utf8) == body)
        #expect(try folder.names == ["file.bin"])
    }
}

extension LoopbackServer {
    /// A server that gives each request the next of these answers, and the last one for ever.
    convenience init(_ answers: FileAnswer...) throws {
        let left = Log<Void>()
        try self.init { request, connection in
            left.append(())
            answers[min(left.count, answers.count) - 1].send(to: request, connection)
        }
    }

    /// The `Range` of each request so far.
    var ranges: [String?] { requests.map { $0.headers["range"] } }
}
