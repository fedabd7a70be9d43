import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Downloads", tenMinutes)
struct DownloadTests {
    let folder = TemporaryFolder()
    let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient, maxResponseSize: 500_000))

    private var destination: URL { folder.url("file.bin") }

    private func content() throws -> String { String(decoding: try Data(contentsOf: destination), as: UTF8.self) }

    private func put(_ text: String) throws { try Data(text.utf8).write(to: destination) }

    private func download(_ server: LoopbackServer, to file: URL? = nil) async throws {
        _ = try await provider.request(Endpoint(.get, .url(server.url), downloadingTo: file ?? destination)).value
    }

    @Test(
        "A body that is not the file is an error that has the body, and the old file stays",
        arguments: [
            ("202 Accepted", [:], nil), ("204 No Content", [:], nil), ("205 Reset Content", [:], nil), ("207 Multi-Status", [:], nil),
            ("206 Partial Content", ["Content-Range": "bytes 0-3/9"], nil), ("206 Partial Content", [:], "bytes=0-3"),
            ("206 Partial Content", ["Content-Range": "bytes 4-7/9"], "bytes=0-3"),
            ("206 Partial Content", ["Content-Range": "bytes 0-8/9"], "bytes=0-3"),
            ("206 Partial Content", ["Content-Range": "bytes 0-8/9"], "bytes=-3"),
            ("206 Partial Content", ["Content-Type": "multipart/byteranges; boundary=b"], "bytes=0-1,4-5"),
        ] as [(String, [String: String], String?)])
    func notTheFile(status: String, headers: [String: String], range: String?) async throws {
        let hasBody = !status.hasPrefix("204") && !status.hasPrefix("205")
        let server = try LoopbackServer { _, connection in connection.respond(status, headers: headers, body: hasBody ? "what" : "") }
        try put("old")
        let endpoint = Endpoint(.get, .url(server.url), headers: ["Range": range], downloadingTo: destination)
        for endpoint in [endpoint, endpoint.validating { _ in }] {
            let error = try await #require(throws: APIError.self) { try await provider.request(endpoint).value }
            #expect(error.statusCode == Int(status.prefix(3)) && error.response?.text == (hasBody ? "what" : ""))
            #expect(try content() == "old")
        }
    }

    @Test(
        "A status of success that says nothing else is the file, and so is the part that was asked for",
        arguments: [
            ("200 OK", [:], nil), ("201 Created", [:], nil), ("203 Non-Authoritative", [:], nil), ("299 Fine", [:], nil),
            ("200 OK", [:], "bytes=5-"), ("206 Partial Content", ["Content-Range": "bytes 5-8/9"], "bytes=5-"),
            ("206 Partial Content", ["Content-Range": "bytes 5-8/9"], "bytes=5-8"),
            ("206 Partial Content", ["Content-Range": "bytes 5-8/9"], "bytes=-4"),
            ("206 Partial Content", ["Content-Range": "BYTES 0-3/*"], "bytes=0-9"),
        ] as [(String, [String: String], String?)])
    func file(status: String, headers: [String: String], range: String?) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(status, headers: headers, body: "what") }
        _ = try await provider.request(Endpoint(.get, .url(server.url), headers: ["Range": range], downloadingTo: destination)).value
        #expect(try content() == "what")
    }

    @Test("Each chunk is written before its progress is reported, and the whole body of the last response replaces the destination")
    func success() async throws {
        let (arrived, goOn) = (Signals<Void>(), DispatchSemaphore(value: 0))
        let (first, second) = (String(repeating: "a", count: 10_000), String(repeating: "b", count: 10_000))
        let server = try LoopbackServer { request, connection in
            guard request.target == "/end" else { return connection.respond("302 Found", headers: ["Location": "/end"], body: "moved") }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 20000\r\nConnection: close\r\n\r\n" + first)
            goOn.wait()
            connection.send(second)
        }
        try put("old")
        let log = Log<TransferProgress>()
        let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).validating { #expect($0.data.isEmpty) }.onProgress {
            log.append($0)
            if $0.bytesReceived == 10_000 { arrived.send(()) }
        }
        async let url = provider.request(endpoint).value
        await arrived.next()
        let part = try #require(try folder.names.first { $0.hasPrefix(".") })
        #expect(try String(contentsOf: folder.url(part), encoding: .utf8) == first)
        #expect(try content() == "old")
        goOn.signal()
        #expect(try await url == destination)
        #expect(try content() == first + second)
        #expect(try folder.names == ["file.bin"])
        #expect(log.entries.last == TransferProgress(bytesReceived: 20_000, bytesToReceive: 20_000))
        #expect(log.entries.map(\.bytesReceived) == log.entries.map(\.bytesReceived).sorted())
    }

    @Test("An accepted response without a body is an empty file")
    func empty() async throws {
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        try put("old")
        try await download(server)
        #expect(try content().isEmpty)
        #expect(try folder.names == ["file.bin"])
    }

    @Test(
        "A response that is refused, broken off or too large leaves the destination as it was",
        arguments: [
            ("404 Not Found\r\nContent-Length: 4\r\n\r\ngone", "404"),
            ("200 OK\r\nContent-Length: 100\r\n\r\nhalf", "before the response was whole"),
            ("200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\n\u{1F}", "not compressed as its Content-Encoding says"),
            ("200 OK\r\nContent-Length: 1000000000\r\n\r\n\(String(repeating: "x", count: 600_000))", "maxResponseSize"),
        ])
    func refused(response: String, word: String) async throws {
        let server = try LoopbackServer { _, connection in connection.send("HTTP/1.1 \(response)") }
        try put("old")
        let error = try await #require(throws: APIError.self) { try await download(server) }
        #expect(error.description.contains(word))
        if word == "404" { #expect(error.response?.data == Data("gone".utf8)) }
        #expect(try content() == "old")
        #expect(try await eventually { try folder.names == ["file.bin"] })
    }

    @Test("If the endpoint accepts a 304, it succeeds with the destination as it was")
    func notModified() async throws {
        let server = try LoopbackServer { _, connection in connection.send("HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n") }
        try put("old")
        let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).validating { #expect($0.statusCode == 304) }
        _ = try await provider.request(endpoint).value
        #expect(try content() == "old")
    }

    @Test(
        "A destination that cannot be written is an error that says why, and nothing is sent",
        arguments: [
            ("a/b", .fileNoSuchFile, "its folder does not exist"), ("folder", .fileWriteFileExists, "a folder of that name is there"),
            ("https", .fileWriteUnsupportedScheme, "it is not a file URL"), ("host", .fileNoSuchFile, "its folder does not exist"),
            (String(repeating: "x", count: 300), .fileWriteInvalidFileName, "the name is too long"),
            ("pipe", .fileWriteFileExists, "it is a pipe and not a regular file"),
            ("link to pipe", .fileWriteFileExists, "it is a pipe and not a regular file"),
            ("link to nothing", .fileNoSuchFile, "it is a link that leads nowhere"),
        ] as [(String, CocoaError.Code, String)])
    func destinations(name: String, code: CocoaError.Code, reason: String) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "body") }
        try FileManager.default.createDirectory(at: folder.url("folder"), withIntermediateDirectories: false)
        try #require(mkfifo(folder.url("pipe").path, 0o600) == 0)
        for file in ["pipe", "nothing"] { try #require(symlink(file, folder.url("link to \(file)").path) == 0) }
        let host = try #require(URL(string: "file://video.mp4"))
        let target = name == "https" ? example : name == "host" ? host : folder.url(name)
        let session = TestedTransport(configuration: .patient)
        for provider in [provider, DefaultAPIProvider(transport: ClosureTransport { session.send($0) })] {
            let error = try await #require(throws: APIError.self) {
                try await provider.request(Endpoint(.get, .url(server.url), downloadingTo: target)).value
            }
            #expect((error.underlying as? CocoaError)?.code == code)
            let place = name == "https" ? target.absoluteString : target.path
            let why = "its response cannot be saved (the file cannot be written to \(place): \(reason))"
            #expect(error.description == "The request was not sent: \(why).")
        }
        #expect(server.requests.isEmpty)
        #expect(try folder.names == ["folder", "link to nothing", "link to pipe", "pipe"])
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
        let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).onProgress {
            if $0.bytesReceived == 2 { arrived.signal() }
        }
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint).value }
        #expect(error.description.contains("it is a pipe"))
        #expect(try status(of: destination).st_mode & S_IFMT == S_IFIFO)
        #expect(try await eventually { try folder.names == ["file.bin"] })
    }

    @Test("A link to a file is followed, also into another folder, and stays a link")
    func link() async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "new") }
        let inner = folder.url("inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        try Data("old".utf8).write(to: inner.appendingPathComponent("real"))
        #expect(symlink("real", inner.appendingPathComponent("second").path) == 0)
        #expect(symlink("inner/second", destination.path) == 0)
        try await download(server)
        #expect(try status(of: destination).st_mode & S_IFMT == S_IFLNK)
        #expect(try String(contentsOf: inner.appendingPathComponent("real"), encoding: .utf8) == "new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: inner.path).sorted() == ["real", "second"])
    }

    @Test("The old file's mode is kept, and a new file has that of the process", arguments: [0o600, 0o755] as [mode_t])
    func mode(mode: mode_t) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "new") }
        let other = folder.url("other")
        try put("old")
        #expect(chmod(destination.path, mode) == 0)
        for file in [destination, other] { try await download(server, to: file) }
        #expect(try status(of: destination).st_mode & 0o777 == mode)
        close(open(folder.url("plain").path, O_CREAT | O_WRONLY, 0o666))
        #expect(try status(of: other).st_mode == status(of: folder.url("plain")).st_mode)
    }

    private func status(of file: URL) throws -> stat {
        var status = stat()
        try #require(lstat(file.path, &status) == 0)
        return status
    }

    @Test(
        "A response in memory is written to the file unless its status is an error, accepted or not",
        arguments: [(200, "body"), (500, "no")])
    func inMemory(status: Int, body: String) async throws {
        try put("old")
        let transport = ClosureTransport { .just(APIResponse(to: $0, statusCode: status, data: Data(body.utf8))) }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport)
        let download = Endpoint(.get, "/", downloadingTo: destination)
        if status != 200 {
            let error = await #expect(throws: APIError.self) { try await provider.request(download).value }
            #expect(error?.response?.data == Data(body.utf8))
        }
        _ = try await provider.request(download.validating { _ in }).value
        #expect(try content() == (status == 200 ? body : "old"))
        #expect(try folder.names == ["file.bin"])
    }

    @Test(
        "A middleware that makes the response anew without the file gets an error, and one with a body of its own replaces the file",
        arguments: [
            { APIResponse(request: $0.request, httpResponse: $0.httpResponse, data: $0.data) },
            { APIResponse(to: $0.request, headers: ["X-Seen": "1"], data: $0.data) },
            { APIResponse(to: PreparedRequest(.get, example), data: $0.data) },
            { APIResponse(to: $0.request, data: Data("its own".utf8)) },
        ] as [@Sendable (APIResponse) -> APIResponse])
    func madeAnew(change: @escaping @Sendable (APIResponse) -> APIResponse) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "body") }
        try put("old")
        let middleware = ClosureMiddleware { request, next in next(request).map { change($0) } }
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient), middlewares: [middleware])
        var error: (any Error)?
        do { _ = try await provider.request(Endpoint(.get, .url(server.url), downloadingTo: destination)).value } catch let thrown {
            error = thrown
        }
        #expect(try content() == (error == nil ? "its own" : "old"))
        if let error { #expect("\(error)".contains("a middleware made its response anew, without the downloaded file"), "\(error)") }
        #expect(try await eventually { try folder.names == ["file.bin"] })
    }

    @Test("A middleware that answers by itself replaces the file, also with an empty body")
    func answeredWithNothing() async throws {
        try put("old")
        let middleware = ClosureMiddleware { request, _ in .just(APIResponse(to: request)) }
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient), middlewares: [middleware])
        _ = try await provider.request(Endpoint(.get, .url(example), downloadingTo: destination)).value
        #expect(try content().isEmpty)
        #expect(try folder.names == ["file.bin"])
    }

    @Test("The file of an earlier attempt never stands for the empty body of a later one")
    func laterEmptyAnswer() async throws {
        let requests = Log<Void>()
        let server = try LoopbackServer { _, connection in
            requests.append(())
            if requests.count == 1 { return connection.respond(body: "body") }
            connection.respond("404 Not Found")
        }
        let middleware = ClosureMiddleware { request, next in next(request).flatMap { _ in next(request) } }
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient), middlewares: [middleware])
        let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).validating { _ in }
        _ = try await provider.request(endpoint).value
        #expect(requests.count == 2)
        #expect(try await eventually { try folder.names.isEmpty })
    }

    enum Failure: CaseIterable { case validating, middleware, laterAttempt, timeout }

    @Test(
        "After an error, also one that a middleware or `validating` throws, the destination is as it was, and soon nothing else is left",
        arguments: Failure.allCases)
    func nothingIsLeftAfterAnError(failure: Failure) async throws {
        try put("old")
        let (requests, held, done) = (Log<PreparedRequest>(), Log<APIResponse>(), Signals<any Error>())
        let server = try LoopbackServer { _, connection in
            if failure == .laterAttempt, !held.entries.isEmpty { return connection.respond("404 Not Found") }
            guard failure == .timeout else { return connection.respond(body: "body") }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            connection.waitUntilClosed()
        }
        let middleware = ClosureMiddleware { request, next in
            requests.append(request)
            return next(request).flatMap { response in
                held.append(response)
                if failure == .middleware { throw URLError(.cannotParseResponse) }
                return failure == .laterAttempt ? next(request) : .just(response)
            }
        }
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient), middlewares: [middleware])
        var endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).validating {
            if failure == .validating { throw URLError(.cannotParseResponse) }
            if $0.statusCode == 404 { throw APIError.unacceptableStatus($0) }
        }
        if failure == .timeout { endpoint = endpoint.timeout(.milliseconds(300)) }
        let subscription = provider.request(endpoint).subscribe(onFailure: { done.send($0) })
        let error = await done.next()
        if failure == .middleware || failure == .validating { #expect((error as? URLError)?.code == .cannotParseResponse) }
        // Nobody else holds a response with the file.
        held.removeAll()
        #expect(try await eventually { try folder.names == ["file.bin"] })
        #expect(try content() == "old")
        withExtendedLifetime((error, subscription, requests)) {}
    }

    @Test("After a dispose, the file stays as long as a middleware holds the whole response")
    func disposedInMiddleware() async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "body") }
        let (arrived, held) = (Signals<Void>(), Log<APIResponse>())
        let middleware = ClosureMiddleware { request, next in
            next(request).flatMap {
                held.append($0)
                arrived.send(())
                return .never()
            }
        }
        let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient), middlewares: [middleware])
        let subscription = provider.request(Endpoint(.get, .url(server.url), downloadingTo: destination)).subscribe()
        await arrived.next()
        #expect(try folder.names.count == 1)
        subscription.dispose()
        #expect(try folder.names.count == 1)
        held.removeAll()
        #expect(try await eventually { try folder.names.isEmpty })
    }

    @Test("If a middleware answers and the file cannot be written, the error is one of the request")
    func answeredByMiddleware() {
        let endpoint = Endpoint(.get, .url(example), downloadingTo: folder.url("no folder/file"))
        let response = APIResponse(to: PreparedRequest(.get, example), data: Data("body".utf8))
        let error = #expect(throws: APIError.self) { try endpoint.value(of: response) }
        #expect(error?.underlying is CocoaError)
    }

    @Test("After a dispose nothing comes, and soon nothing is left behind")
    func disposed() async throws {
        let arrived = Signals<Void>()
        let server = try LoopbackServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\nbeginning")
            connection.waitUntilClosed()
        }
        let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).onProgress {
            if $0.bytesReceived > 0 { arrived.send(()) }
        }
        let subscription = provider.request(endpoint).subscribe { Issue.record("An event came after dispose: \($0)") }
        while try folder.names.isEmpty { await arrived.next() }
        subscription.dispose()
        await server.allClosed()
        #expect(try await eventually { try folder.names.isEmpty })
    }

    @Test("Downloads that are disposed at any moment leave whole files or none")
    func randomDisposals() async throws {
        let body = String(repeating: "0123456789", count: 20_000)
        let server = try LoopbackServer { _, connection in connection.respond(body: body) }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for round in 0..<rounds(25) { await self.disposeAtRandom(server, to: folder.url("\(worker)-\(round)")) }
                }
            }
        }
        #expect(try await eventually { try folder.names.allSatisfy { !$0.hasPrefix(".") } })
        for name in try folder.names {
            #expect(try Data(contentsOf: folder.url(name)).count == body.utf8.count)
        }
    }

    /// Disposes after some chunks, on the session's queue, or after some turns of another thread.
    private func disposeAtRandom(_ server: LoopbackServer, to destination: URL) async {
        let chunks = Bool.random() ? Int.random(in: 1...8) : nil
        await withCheckedContinuation { continuation in
            let (disposable, count) = (SerialDisposable(), Log<Void>())
            let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).onProgress { _ in
                count.append(())
                if count.count == chunks { disposable.dispose() }
            }
            disposable.disposable = provider.request(endpoint).subscribe(
                onFailure: { Issue.record("\($0)") }, onDisposed: { continuation.resume() })
            guard chunks == nil else { return }
            spin(upTo: 200)
            disposable.dispose()
        }
    }
}

/// A middleware of a test.
struct ClosureMiddleware: Middleware {
    let closure: @Sendable (PreparedRequest, @escaping Next) -> Single<APIResponse>

    init(_ closure: @escaping @Sendable (PreparedRequest, @escaping Next) -> Single<APIResponse>) { self.closure = closure }

    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> { closure(request, next) }
}
