import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Downloads", tenMinutes)
struct DownloadTests {
    let folder = TemporaryFolder()
    let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))

    private var destination: URL { folder.url("file.bin") }

    private func content() throws -> String { String(decoding: try Data(contentsOf: destination), as: UTF8.self) }

    private func put(_ text: String) throws { try Data(text.utf8).write(to: destination) }

    @Test("The body takes the place of the destination, and progress is told")
    func success() async throws {
        let body = String(repeating: "0123456789", count: 30_000)
        let server = try LoopbackServer { _, connection in connection.respond(body: body) }
        try put("old")
        let log = Log<TransferProgress>()
        let url = try await provider.request(Endpoint(.get, .url(server.url), downloadingTo: destination).onProgress(log.append)).value
        #expect(url == destination)
        #expect(try content() == body)
        #expect(try folder.names == ["file.bin"])
        #expect(log.entries.last == TransferProgress(bytesReceived: 300_000, bytesToReceive: 300_000))
        #expect(log.entries.map(\.bytesReceived) == log.entries.map(\.bytesReceived).sorted())
    }

    @Test("Each chunk is on the disk before its progress is told, and the destination is not there before the end")
    func streaming() async throws {
        let (hasArrived, arrived) = AsyncStream.makeStream(of: Void.self)
        let goOn = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 20000\r\nConnection: close\r\n\r\n" + String(repeating: "a", count: 10_000))
            goOn.wait()
            connection.send(String(repeating: "b", count: 10_000))
        }
        let single = provider.request(
            Endpoint(.get, .url(server.url), downloadingTo: destination).onProgress { if $0.bytesReceived == 10_000 { arrived.yield() } })
        async let url = single.value
        for await _ in hasArrived { break }
        let names = try folder.names
        #expect(names.count == 1)
        let name = try #require(names.first)
        #expect(name.hasPrefix("."))
        #expect(try Data(contentsOf: folder.url(name)) == Data(String(repeating: "a", count: 10_000).utf8))
        goOn.signal()
        #expect(try await url == destination)
        #expect(try content().utf8.count == 20_000)
        #expect(try folder.names == ["file.bin"])
    }

    @Test("An accepted response without a body is an empty file", arguments: ["200 OK", "201 Created", "204 No Content"])
    func empty(status: String) async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 \(status)\r\n\(status.hasPrefix("204") ? "" : "Content-Length: 0\r\n")Connection: close\r\n\r\n")
        }
        try put("old")
        _ = try await provider.request(Endpoint(.get, .url(server.url), downloadingTo: destination)).value
        #expect(try content().isEmpty)
        #expect(try folder.names == ["file.bin"])
    }

    @Test("A refused status leaves the destination untouched, and its body is in the error's response")
    func refused() async throws {
        let server = try LoopbackServer { _, connection in connection.respond("404 Not Found", body: "gone") }
        try put("old")
        let error = try await failure(server.url)
        #expect(error.description == "GET \(server.url) failed: 404 Not Found (4 bytes).")
        #expect(error.response?.data == Data("gone".utf8))
        #expect(try content() == "old")
        #expect(try folder.names == ["file.bin"])
    }

    @Test("A refused status that the request accepts succeeds with the destination as it was")
    func notModified() async throws {
        let server = try LoopbackServer { _, connection in connection.send("HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n") }
        try put("old")
        let request = Endpoint(.get, .url(server.url), downloadingTo: destination).validating { #expect($0.statusCode == 304) }
        _ = try await provider.request(request).value
        #expect(try content() == "old")
    }

    @Test("Of redirects, the last response alone is written")
    func redirect() async throws {
        let server = try LoopbackServer { request, connection in
            guard request.target == "/start" else { return connection.respond(body: "there") }
            connection.respond("302 Found", headers: ["Location": "/end"], body: "moved")
        }
        _ = try await provider.request(Endpoint(.get, .url(server.url, "/start"), downloadingTo: destination)).value
        #expect(try content() == "there")
        #expect(try folder.names == ["file.bin"])
    }

    @Test("A connection that is closed half-way leaves nothing behind")
    func halfway() async throws {
        let server = try LoopbackServer { _, connection in connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf") }
        try put("old")
        let error = try await failure(server.url)
        guard case .transport = error else {
            Issue.record("\(error)")
            return
        }
        #expect(try content() == "old")
        #expect(try folder.names == ["file.bin"])
    }

    @Test("The maximum size counts for files too")
    func tooLarge() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n" + String(repeating: "x", count: 10_000))
            connection.waitUntilClosed()
        }
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient, maxResponseSize: 5_000))
        let error = try await failure(server.url, by: provider)
        #expect(error.urlError?.code == .dataLengthExceedsMaximum)
        let reason = "the response is larger than the transport's maxResponseSize of 5000 bytes (URLError -1103)."
        #expect(error.description == "GET \(server.url) failed: \(reason)")
        #expect(try folder.names.isEmpty)
    }

    enum Place: String, CaseIterable { case missingFolder, folder, web, longName }

    @Test(
        "A destination that cannot be written says why, and nothing is sent", arguments: Place.allCases,
        [true, false])
    func destinations(place: Place, isStreaming: Bool) async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody")
        }
        let session = TestedTransport(configuration: .patient)
        let provider = isStreaming ? provider : DefaultAPIProvider(transport: ClosureTransport { session.send($0) })
        let long = String(repeating: "x", count: 300)
        let (destination, code, reason): (URL, CocoaError.Code, String) =
            switch place {
            case .missingFolder:
                (folder.url("a/b"), .fileNoSuchFile, "\(folder.url.path)/a/b: its folder does not exist")
            case .folder: (folder.url, .fileWriteFileExists, "\(folder.url.path): a folder of that name is there")
            case .web:
                (example.appendingPathComponent("x"), .fileWriteUnsupportedScheme, "https://api.example.com/x: it is not a file URL")
            case .longName: (folder.url(long), .fileWriteInvalidFileName, "\(folder.url.path)/\(long): the name is too long")
            }
        let error = try await failure(server.url, to: destination, by: provider)
        #expect((error.underlying as? CocoaError)?.code == code)
        let why = "its response cannot be saved (the file cannot be written to \(reason))"
        #expect(error.description == "The request was not sent: \(why).")
        #expect(server.requests.isEmpty)
        #expect(try folder.names.isEmpty)
    }

    enum Standing: String, CaseIterable {
        case pipe = "it is a pipe and not a regular file"
        case linkToPipe = "it is a pipe and not a regular file "
        case linkToNothing = "it is a link that leads nowhere"
        case linkToItself = "it is a link that leads nowhere "
        case linkToFolder = "a folder of that name is there"

        var reason: String { rawValue.trimmingCharacters(in: .whitespaces) }
    }

    @Test("Something that is not a regular file is not replaced, and nothing is sent", arguments: Standing.allCases)
    func standing(_ standing: Standing) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "body") }
        let other = folder.url("other")
        if standing == .linkToFolder { try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false) }
        if [.pipe, .linkToPipe].contains(standing) { #expect(mkfifo((standing == .pipe ? destination : other).path, 0o600) == 0) }
        if standing != .pipe { #expect(symlink(standing == .linkToItself ? "file.bin" : "other", destination.path) == 0) }
        let names = try folder.names
        let error = try await failure(server.url)
        #expect(
            error.description
                == "The request was not sent: its response cannot be saved (the file cannot be written to \(destination.path): \(standing.reason))."
        )
        #expect(server.requests.isEmpty)
        #expect(try folder.names == names)
        #expect(try kind(of: destination) == (standing == .pipe ? S_IFIFO : S_IFLNK))
    }

    @Test("A pipe that comes during a download is not replaced", arguments: [true, false])
    func pipeMeanwhile(isBeforeHead: Bool) async throws {
        let arrived = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { [destination] _, connection in
            if isBeforeHead { mkfifo(destination.path, 0o600) }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbo")
            if !isBeforeHead {
                arrived.wait()
                mkfifo(destination.path, 0o600)
            }
            connection.send("dy")
        }
        let request = Endpoint(.get, .url(server.url), downloadingTo: destination).onProgress {
            if $0.bytesReceived == 2 { arrived.signal() }
        }
        let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
        #expect(error.description.hasSuffix("\(destination.path): \(Standing.pipe.reason)."))
        #expect(try kind(of: destination) == S_IFIFO)
        #expect(try folder.names == ["file.bin"])
    }

    @Test("A link to a file is followed, also in another folder, and stays a link")
    func link() async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "new") }
        let inner = folder.url("inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        try Data("old".utf8).write(to: inner.appendingPathComponent("real"))
        #expect(symlink("real", inner.appendingPathComponent("second").path) == 0)
        #expect(symlink("inner/second", destination.path) == 0)
        let url = try await provider.request(Endpoint(.get, .url(server.url), downloadingTo: destination)).value
        #expect(url == destination)
        #expect(try kind(of: destination) == S_IFLNK)
        #expect(try String(contentsOf: inner.appendingPathComponent("real"), encoding: .utf8) == "new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: inner.path).sorted() == ["real", "second"])
    }

    @Test("The old file's mode is kept, and a new file has that of the process", arguments: [0o600, 0o640, 0o666, 0o755] as [mode_t])
    func mode(mode: mode_t) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "new") }
        let other = folder.url("other")
        try put("old")
        #expect(chmod(destination.path, mode) == 0)
        for file in [destination, other] { _ = try await provider.request(Endpoint(.get, .url(server.url), downloadingTo: file)).value }
        #expect(try permissions(of: destination) == mode)
        let plain = open(folder.url("plain").path, O_CREAT | O_WRONLY, 0o666)
        close(plain)
        #expect(try permissions(of: other) == permissions(of: folder.url("plain")))
    }

    private func kind(of file: URL) throws -> mode_t { try status(of: file).st_mode & S_IFMT }

    private func permissions(of file: URL) throws -> mode_t { try status(of: file).st_mode & 0o777 }

    private func status(of file: URL) throws -> stat {
        var status = stat()
        try #require(lstat(file.path, &status) == 0)
        return status
    }

    @Test("A download through a transport that returns the body is written to its file")
    func fallback() async throws {
        let server = try LoopbackServer { request, connection in
            connection.respond(request.target == "/ok" ? "200 OK" : "500 Internal Server Error", body: request.target)
        }
        let session = TestedTransport(configuration: .patient)
        let provider = DefaultAPIProvider(transport: ClosureTransport { session.send($0) })
        try put("old")
        let error = try await failure(server.url, by: provider)
        #expect(error.response?.data == Data("/".utf8))
        #expect(try content() == "old")
        _ = try await provider.request(Endpoint(.get, .url(server.url, "/ok"), downloadingTo: destination)).value
        #expect(try content() == "/ok")
        #expect(try folder.names == ["file.bin"])
    }

    @Test("Middlewares see the response of a download, with no data")
    func middlewares() async throws {
        struct Seen: Middleware {
            let log: Log<String>
            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
                next(request).do(onSuccess: { log.append("\($0.statusCode), \($0.data.count) bytes") })
            }
        }
        let server = try LoopbackServer { _, connection in connection.respond(body: "body") }
        let log = Log<String>()
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient), middlewares: [Seen(log: log)])
        _ = try await provider.request(Endpoint(.get, .url(server.url), downloadingTo: destination)).value
        #expect(log.entries == ["200, 0 bytes"])
        #expect(try content() == "body")
    }

    @Test("If a middleware answers and the file cannot be written, the error says of which request")
    func answeredByMiddleware() {
        let endpoint = Endpoint(.get, .url(example), downloadingTo: folder.url("no folder/file"))
        let error = #expect(throws: APIError.self) {
            try endpoint.value(of: APIResponse(to: PreparedRequest(.get, example), data: Data("body".utf8)))
        }
        #expect(error?.underlying is CocoaError)
    }

    @Test("When dispose returns, nothing is left behind, and nothing comes")
    func disposed() async throws {
        let (hasArrived, arrived) = AsyncStream.makeStream(of: Void.self)
        let (isClosed, closed) = AsyncStream.makeStream(of: Void.self)
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\nbeginning")
            connection.waitUntilClosed()
            closed.yield()
        }
        let download = Endpoint(.get, .url(server.url), downloadingTo: destination)
            .onProgress { if $0.bytesReceived > 0 { arrived.yield() } }
        let disposable = provider.request(download)
            .subscribe { Issue.record("An event came after dispose: \($0)") }
        for await _ in hasArrived { break }
        #expect(try folder.names.count == 1)
        disposable.dispose()
        #expect(try folder.names.isEmpty)
        for await _ in isClosed { break }
        #expect(try folder.names.isEmpty)
    }

    @Test("A transport that leaves the body in memory has it written to the file, also if it is empty", arguments: ["", "body"])
    func inMemory(body: String) async throws {
        let folder = TemporaryFolder()
        try Data("old".utf8).write(to: folder.url("file"))
        let transport = ClosureTransport { .just(APIResponse(to: $0, data: Data(body.utf8))) }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport)
        _ = try await provider.request(Endpoint(.get, "/", downloadingTo: folder.url("file"))).value
        #expect(try Data(contentsOf: folder.url("file")) == Data(body.utf8))
    }

    @Test("1,000 downloads disposed at any moment leave whole files or none")
    func randomDisposals() async throws {
        let body = String(repeating: "0123456789", count: 20_000)
        let server = try LoopbackServer { _, connection in connection.respond(body: body) }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for round in 0..<250 { await self.disposeAtRandom(server, to: folder.url("\(worker)-\(round)")) }
                }
            }
        }
        for name in try folder.names {
            #expect(!name.hasPrefix("."))
            #expect(try Data(contentsOf: folder.url(name)).count == body.utf8.count)
        }
    }

    /// Disposes after some chunks, on the session's queue, or after some turns of another thread.
    private func disposeAtRandom(_ server: LoopbackServer, to destination: URL) async {
        let chunks = Bool.random() ? Int.random(in: 1...8) : .max
        let turns = chunks == .max ? Int.random(in: 0...400) : .max
        await withCheckedContinuation { continuation in
            let disposable = SerialDisposable()
            let count = Log<Void>()
            let download = Endpoint(.get, .url(server.url), downloadingTo: destination).onProgress { _ in
                count.append(())
                if count.count == chunks { disposable.dispose() }
            }
            disposable.disposable = provider.request(download).subscribe(
                onFailure: { Issue.record("\($0)") }, onDisposed: { continuation.resume() })
            guard turns < .max else { return }
            for _ in 0..<turns { sched_yield() }
            disposable.dispose()
        }
    }

    private func failure(_ url: URL, to destination: URL? = nil, by provider: DefaultAPIProvider? = nil) async throws -> APIError {
        try await #require(throws: APIError.self) {
            try await (provider ?? self.provider).request(Endpoint(.get, .url(url), downloadingTo: destination ?? self.destination)).value
        }
    }
}
