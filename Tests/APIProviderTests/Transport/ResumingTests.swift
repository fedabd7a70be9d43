import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Downloads that go on where they stopped", tenMinutes)
struct ResumingTests: DownloadSuite {
    let folder = TemporaryFolder()
    let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))

    private static let broken = FileAnswer(breaksOffAfter: 12_000)

    private func endpoint(_ server: LoopbackServer) -> Endpoint<URL> {
        Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()
    }

    private func download(_ server: LoopbackServer) async throws { _ = try await provider.request(endpoint(server)).value }

    /// Downloads until the connection breaks. Returns how many bytes stay.
    @discardableResult
    private func breakOff(_ server: LoopbackServer) async throws -> Int {
        let error = try await #require(throws: APIError.self) { try await download(server) }
        #expect(error.urlError?.code == .networkConnectionLost, "\(error)")
        return try Data(contentsOf: kept).count
    }

    // MARK: - Going on

    @Test("After a lost connection, the next request asks for the rest, and nothing but the destination is left", arguments: [false, true])
    func lostConnection(isReset: Bool) async throws {
        let server = try LoopbackServer(FileAnswer(breaksOffAfter: 12_000, isReset: isReset), FileAnswer())
        try Data("old".utf8).write(to: destination)
        try #require(chmod(destination.path, 0o440) == 0)
        // A reset may overtake the bytes before it.
        let error = await #expect(throws: APIError.self) { try await download(server) }
        #expect(error?.urlError?.code == .networkConnectionLost)
        guard try !isReset || folder.names.count > 1 else { return }
        let count = try Data(contentsOf: kept).count
        #expect(count > 0 && count <= 12_000)
        #expect(try folder.names == [".file.bin.partial", "file.bin"] && keptNames.count == 1)
        #expect(try mode(of: keptFolder) == 0o700)
        #expect(try String(contentsOf: destination, encoding: .utf8) == "old")

        let (progress, statuses) = (Log<TransferProgress>(), Log<Int>())
        let next = endpoint(server).validating { statuses.append($0.statusCode) }.onProgress { progress.append($0) }
        #expect(try await provider.request(next).value == destination)
        try expectOnlyFile()
        #expect(try mode(of: destination) == 0o440)
        #expect(server.ranges == [nil, "bytes=\(count)-"])
        #expect(server.requests.map { $0.headers["if-range"] } == [nil, "\"v1\""])
        #expect(server.requests.map { $0.headers["accept-encoding"] } == ["identity", "identity"])
        let first = progress.entries.first { $0.bytesToReceive != nil }
        #expect(first == TransferProgress(bytesReceived: Int64(count), bytesToReceive: 20_000))
        #expect(progress.entries.last == TransferProgress(bytesReceived: 20_000, bytesToReceive: 20_000))
        #expect(statuses.entries == [206])
    }

    private func mode(of file: URL) throws -> mode_t {
        var status = stat()
        try #require(lstat(file.path, &status) == 0)
        return status.st_mode & 0o777
    }

    @Test("After a dispose, the next request goes on at once")
    func disposed() async throws {
        let (arrived, served) = (Signals<Void>(), Log<Void>())
        let server = try LoopbackServer { request, connection in
            served.append(())
            guard served.count == 1 else { return FileAnswer().send(to: request, connection) }
            FileAnswer(breaksOffAfter: 12_000).send(to: request, connection)
            connection.waitUntilClosed()
        }
        let first = endpoint(server).onProgress { if $0.bytesReceived == 12_000 { arrived.send(()) } }
        let subscription = provider.request(first).subscribe { Issue.record("An event came after dispose: \($0)") }
        await arrived.next()
        subscription.dispose()
        #expect(try folder.names == [".file.bin.partial"])
        try await download(server)
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-"])
    }

    @Test("The closure that gets the error may begin the download again at once")
    func failed() async throws {
        let (server, results) = (try LoopbackServer(Self.broken, FileAnswer()), Signals<Bool>())
        let request = provider.request(endpoint(server))
        let bag = DisposeBag()
        request.subscribe(
            onSuccess: { _ in results.send(false) },
            onFailure: { _ in
                request.subscribe(onSuccess: { _ in results.send(true) }, onFailure: { _ in results.send(false) }).disposed(by: bag)
            }
        ).disposed(by: bag)
        #expect(await results.next() == [true])
        try expectOnlyFile()
    }

    @Test("Downloads that are disposed at any moment and begun again at once end with the whole file")
    func randomDisposals() async throws {
        let server = try LoopbackServer(FileAnswer(body: String(repeating: FileAnswer.body, count: 10)))
        for _ in 0..<rounds(40) {
            let subscription = provider.request(endpoint(server)).subscribe(onFailure: { Issue.record("\($0)") })
            spin(upTo: 3_000)
            subscription.dispose()
        }
        try await download(server)
        try expectOnlyFile(String(repeating: FileAnswer.body, count: 10))
    }

    @Test("A part that ends early is a lost connection that keeps its bytes, and says what came")
    func earlyEnd() async throws {
        let server = try LoopbackServer(Self.broken, FileAnswer(partCount: 3_000), FileAnswer())
        #expect(try await breakOff(server) == 12_000)
        let error = try await #require(throws: APIError.self) { try await download(server) }
        let sentence = "the server sent bytes 12000-14999 of 20000; the same request asks for the rest (URLError -1005)."
        #expect(error.description.hasSuffix(sentence) && error.isTransient, "\(error)")
        try expectKept(FileAnswer.body.prefix(15_000))
        try await download(server)
        try expectOnlyFile()
    }

    @Test("A whole file that validating refuses is not kept, new or not, so that the next request gets another one")
    func refusedWhole() async throws {
        let server = try LoopbackServer(FileAnswer(), Self.broken, FileAnswer())
        let refused = endpoint(server).validating { _ in throw URLError(.cannotDecodeContentData) }
        await #expect(throws: URLError.self) { try await provider.request(refused).value }
        #expect(try folder.names.isEmpty)
        try await breakOff(server)
        await #expect(throws: URLError.self) { try await provider.request(refused).value }
        #expect(try folder.names.isEmpty)
        try await download(server)
        try expectOnlyFile()
        #expect(server.ranges == [nil, nil, "bytes=12000-", nil])
    }

    @Test(
        "A status that validating accepts without the file takes no kept bytes", arguments: ["304 Not Modified", "503 Service Unavailable"])
    func acceptedStatus(status: String) async throws {
        let server = try LoopbackServer(Self.broken, FileAnswer(status: status), FileAnswer())
        try await breakOff(server)
        _ = try? await provider.request(endpoint(server).validating { _ in }).value
        try expectKept(FileAnswer.body.prefix(12_000))
        try await download(server)
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-", "bytes=12000-"])
    }

    /// Who has the whole file in its hands when the request is disposed.
    enum Holder: CaseIterable { case validating, middleware }

    @Test(
        "A dispose while the whole file is looked at refuses nothing: the next request asks for one byte", arguments: Holder.allCases,
        [false, true])
    func disposedWhileLookedAt(holder: Holder, isNew: Bool) async throws {
        let server = isNew ? try LoopbackServer(FileAnswer()) : try LoopbackServer(Self.broken, FileAnswer())
        if !isNew { try await breakOff(server) }
        let (began, goOn) = (Signals<Void>(), DispatchSemaphore(value: 0))
        let wait: @Sendable () -> Void = {
            began.send(())
            goOn.wait()
        }
        let middleware = ClosureMiddleware { request, next in
            next(request).map { response in
                wait()
                return response
            }
        }
        let transport = TestedTransport(configuration: .patient)
        let provider = DefaultAPIProvider(transport: transport, middlewares: holder == .middleware ? [middleware] : [])
        let first = endpoint(server).validating { _ in if holder == .validating { wait() } }
        let subscription = provider.request(first).subscribe { Issue.record("An event came after dispose: \($0)") }
        await began.next()
        subscription.dispose()
        try await download(server)
        goOn.signal()
        try expectOnlyFile()
        #expect(server.ranges == (isNew ? [nil] : [nil, "bytes=12000-"]) + ["bytes=19999-"])
    }

    @Test(
        "If the file cannot be moved, the next download goes on, even where nobody may write the destination", arguments: [false, true])
    func notMoved(isNew: Bool) async throws {
        let server = isNew ? try LoopbackServer(FileAnswer()) : try LoopbackServer(Self.broken, FileAnswer())
        try Data("old".utf8).write(to: destination)
        try #require(chmod(destination.path, 0o440) == 0)
        if !isNew { try await breakOff(server) }
        let blocked = endpoint(server).validating { _ in
            try FileManager.default.removeItem(at: destination)
            try FileManager.default.createDirectory(at: destination, withIntermediateDirectories: false)
        }
        await #expect(throws: APIError.self) { try await provider.request(blocked).value }
        // The superuser may open each file, so the mode is what a user would see.
        #expect(try mode(of: kept) & 0o600 == 0o600)
        try FileManager.default.removeItem(at: destination)
        try await download(server)
        try expectOnlyFile()
        #expect(server.ranges == (isNew ? [nil] : [nil, "bytes=12000-"]) + ["bytes=19999-"])
    }

    @Test("A redirect to a link that is signed anew each time goes on, and one to another path does not", arguments: [true, false])
    func redirects(isSamePath: Bool) async throws {
        let served = Log<Void>()
        let server = try LoopbackServer { request, connection in
            served.append(())
            guard request.target != "/" else {
                let path = isSamePath || served.count < 3 ? "file" : "other"
                return connection.respond("302 Found", headers: ["Location": "/\(path)?signature=\(served.count)"])
            }
            let isFirst = served.count == 2
            FileAnswer(
                body: request.target.hasPrefix("/other") ? FileAnswer.changedBody : FileAnswer.body, breaksOffAfter: isFirst ? 12_000 : nil
            )
            .send(to: request, connection)
        }
        try await breakOff(server)
        try await download(server)
        try expectOnlyFile(isSamePath ? FileAnswer.body : FileAnswer.changedBody)
        let again = isSamePath ? [] : [nil, nil] as [String?]
        #expect(server.ranges == [nil, nil, "bytes=12000-", "bytes=12000-"] + again)
    }

    // MARK: - Beginning anew

    @Test("A file that has changed is loaded as a whole, and goes on as the new one", arguments: [nil, 5_000])
    func changed(breaksOffAfter: Int?) async throws {
        let new = FileAnswer(eTag: "\"v2\"", body: FileAnswer.changedBody)
        var broken = new
        broken.breaksOffAfter = breaksOffAfter
        let server = try LoopbackServer(Self.broken, broken, new)
        try await breakOff(server)
        if breaksOffAfter != nil { #expect(try await breakOff(server) == 5_000) }
        let progress = Log<Int64>()
        _ = try await provider.request(endpoint(server).onProgress { progress.append($0.bytesReceived) }).value
        try expectOnlyFile(FileAnswer.changedBody)
        #expect(server.ranges == [nil, "bytes=12000-"] + (breaksOffAfter == nil ? [] : ["bytes=5000-"]))
        if breaksOffAfter == nil { #expect(progress.entries.allSatisfy { $0 != 12_000 }) }
    }

    @Test(
        "A part that does not fit, and a server that refuses ranges: the whole is asked for in the same subscription",
        arguments: [
            FileAnswer(headers: ["Content-Range": "bytes 11999-19999/20000"]),
            FileAnswer(headers: ["Content-Range": "bytes 12000-19999/20001"]),
            FileAnswer(headers: ["Content-Range": "bytes 12000-19998/20000"]),
            FileAnswer(headers: ["Content-Range": "bytes 12000-20000/20000"]),
            FileAnswer(headers: ["Content-Range": "bytes 12000-11999/20000", "Content-Length": "0"]),
            FileAnswer(headers: ["Content-Length": ""]), FileAnswer(headers: ["Content-Length": "7999"]),
            FileAnswer(headers: ["Content-Range": "bytes 12000-19999/*"]), FileAnswer(headers: ["Content-Range": ""]),
            FileAnswer(headers: ["ETag": "\"v2\""]), FileAnswer(headers: ["ETag": ""]), FileAnswer(headers: ["ETag": "W/\"v1\""]),
            FileAnswer(headers: ["Content-Range": "", "Content-Type": "multipart/byteranges; boundary=b"]),
            FileAnswer(headers: ["Content-Type": "multipart/byteranges; boundary=b"]), FileAnswer(headers: ["Content-Encoding": "gzip"]),
            FileAnswer(body: FileAnswer.changedBody + "more"), FileAnswer(status: "400 Bad Request"),
            FileAnswer(status: "412 Precondition Failed"), FileAnswer(status: "200 OK"), FileAnswer(status: "203 Other"),
            FileAnswer(status: "416 Range Not Satisfiable", headers: ["Content-Range": "bytes */20000"]),
            FileAnswer(status: "416 Range Not Satisfiable", headers: ["Content-Range": ""]), FileAnswer(status: "501 Not Implemented"),
        ])
    func unfit(answer: FileAnswer) async throws {
        let server = try LoopbackServer(Self.broken, answer, FileAnswer(eTag: "\"v3\"", body: FileAnswer.changedBody))
        try await breakOff(server)
        try await download(server)
        try expectOnlyFile(FileAnswer.changedBody)
        #expect(server.ranges == [nil, "bytes=12000-", nil])
    }

    @Test("Another status keeps the bytes, and is the error", arguments: ["401 Unauthorized", "404 Not Found", "503 Service Unavailable"])
    func otherStatus(status: String) async throws {
        let server = try LoopbackServer(Self.broken, FileAnswer(status: status), FileAnswer())
        try await breakOff(server)
        let error = try await #require(throws: APIError.self) { try await download(server) }
        #expect(error.statusCode == Int(status.prefix(3)) && error.response?.text == "no")
        #expect(try Data(contentsOf: kept) == Data(FileAnswer.body.utf8.prefix(12_000)))
        try await download(server)
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-", "bytes=12000-"])
    }

    @Test("The bytes of another endpoint are not used, and stay until a response comes")
    func otherEndpoint() async throws {
        let server = try LoopbackServer(Self.broken, FileAnswer(status: "503 Busy"), FileAnswer(body: FileAnswer.changedBody))
        try await breakOff(server)
        let other = Endpoint(.get, .url(server.url), query: ["id": 2], downloadingTo: destination).resuming()
        await #expect(throws: APIError.self) { try await provider.request(other).value }
        try expectKept(FileAnswer.body.prefix(12_000))
        _ = try await provider.request(other).value
        try expectOnlyFile(FileAnswer.changedBody)
        #expect(server.ranges == [nil, nil, nil])
    }

    // MARK: - What else may come

    private static let page = ["Content-Type": "text/html"]

    @Test(
        "A page that validating refuses takes none of the kept bytes, with or without an entity tag, and the page of a server takes its place",
        arguments: [["ETag": "\"page\""], ["ETag": ""], ["ETag": "", "Content-Length": "", "Transfer-Encoding": "chunked"]])
    func page(headers: [String: String]) async throws {
        let page = FileAnswer(body: "5\r\nLogin\r\n0\r\n\r\n", ignoresRange: true, headers: headers.merging(Self.page) { $1 })
        let server = try LoopbackServer(Self.broken, page, FileAnswer())
        try await breakOff(server)
        let isFile: @Sendable (APIResponse) throws -> Void = { response in
            guard response.headers["Content-Type"] == nil else { throw APIError.unacceptableStatus(response) }
        }
        await #expect(throws: APIError.self) { try await provider.request(endpoint(server).validating(isFile)).value }
        try expectKept(FileAnswer.body.prefix(12_000))
        _ = try await provider.request(endpoint(server).validating(isFile)).value
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-", "bytes=12000-"])

        let trusting = try LoopbackServer(Self.broken, page)
        try await breakOff(trusting)
        try await download(trusting)
        #expect(try folder.names == ["file.bin"] && String(contentsOf: destination, encoding: .utf8).contains("Login"))
    }

    @Test("A new version that breaks off takes the place of the old one only with its first byte", arguments: [0, 5_000])
    func newVersion(count: Int) async throws {
        let new = FileAnswer(eTag: "\"v2\"", body: FileAnswer.changedBody, breaksOffAfter: count)
        let server = try LoopbackServer(Self.broken, new)
        try await breakOff(server)
        await #expect(throws: APIError.self) { try await download(server) }
        try expectKept(count == 0 ? FileAnswer.body.prefix(12_000) : FileAnswer.changedBody.prefix(5_000))
    }

    @Test("A server that sends the same version from its first byte begins the file anew")
    func ignoredRange() async throws {
        let server = try LoopbackServer(Self.broken, FileAnswer(breaksOffAfter: 5_000, ignoresRange: true), FileAnswer())
        try await breakOff(server)
        try await breakOff(server)
        try expectKept(FileAnswer.body.prefix(5_000))
        try await download(server)
        try expectOnlyFile()
    }

    @Test(
        "A 200 with another range than the whole is not the file, and a range that is the whole or in other units says nothing",
        arguments: [
            ("bytes 40-19999/20000", [:], false), ("bytes 0-19999/20001", [:], false), ("bytes 0-19999/*", [:], false),
            ("bytes 0-19999/20000", [:], true), ("items 0-9/50", [:], true), ("0-9/50", [:], true), ("bytes */20000", [:], false),
            ("bytes 40-20039/20040", ["Range": "bytes=40-"], true), ("bytes 40-20039/20040", ["Range": "bytes=50-"], false),
        ] as [(String, HTTPHeaders, Bool)], [false, true])
    func range(row: (field: String, headers: HTTPHeaders, isFile: Bool), isResuming: Bool) async throws {
        let (field, headers, isFile) = row
        if isResuming, !headers.isEmpty { return }
        let server = try LoopbackServer(FileAnswer(ignoresRange: true, headers: ["Content-Range": field]))
        try Data("old".utf8).write(to: destination)
        var endpoint = Endpoint(.get, .url(server.url), headers: headers, downloadingTo: destination)
        if isResuming { endpoint = endpoint.resuming() }
        var error: APIError?
        do { _ = try await provider.request(endpoint).value } catch let thrown { error = thrown as? APIError }
        #expect(error?.statusCode == (isFile ? nil : 200) && server.requests.count == 1, "\(error as Any)")
        try expectOnlyFile(isFile ? FileAnswer.body : "old")
    }

    // MARK: - Ordinary downloads

    @Test(
        "Without a strong ETag or a length, or with a coding, nothing is kept",
        arguments: [
            ["ETag": "W/\"v1\""], ["ETag": ""], ["ETag": "v1"], ["ETag": "\"v1\", \"v2\""], ["Content-Encoding": "gzip"],
            ["Content-Length": "", "Transfer-Encoding": "chunked"],
        ])
    func notResumable(headers: [String: String]) async throws {
        let other = FileAnswer(breaksOffAfter: 5_000, ignoresRange: true, headers: headers)
        let server = try LoopbackServer(other, Self.broken, other)
        await #expect(throws: APIError.self) { try await download(server) }
        #expect(try await eventually { try folder.names.isEmpty })
        try await breakOff(server)
        await #expect(throws: APIError.self) { try await download(server) }
        try expectKept(FileAnswer.body.prefix(12_000))
        #expect(server.requests.count == 3)
    }

    @Test("A whole response in memory is the file, and a part in memory is not")
    func inMemory() async throws {
        let server = try LoopbackServer(Self.broken)
        try await breakOff(server)
        let ranges = Log<String?>()
        let transport = ClosureTransport { request in
            ranges.append(request.headers["Range"])
            let isPart = request.headers["Range"] != nil
            return .just(APIResponse(to: request, statusCode: isPart ? 206 : 200, data: Data((isPart ? "part" : "whole").utf8)))
        }
        _ = try await DefaultAPIProvider(transport: transport).request(endpoint(server)).value
        try expectOnlyFile("whole")
        #expect(ranges.entries == ["bytes=12000-", nil])
    }

    @Test(
        "A request that sets what resuming sets, or is no plain GET, is invalid",
        arguments: [
            (.get, ["Range": "bytes=1-"], "Range"), (.get, ["If-Range": "\"v1\""], "If-Range"),
            (.get, ["Accept-Encoding": "gzip"], "Accept-Encoding"), (.head, [:], "GET without a body"), (.post, [:], "GET without a body"),
        ] as [(HTTPMethod, HTTPHeaders, String)])
    func invalid(method: HTTPMethod, headers: HTTPHeaders, word: String) async throws {
        let server = try LoopbackServer(FileAnswer())
        let endpoint = Endpoint(method, .url(server.url), headers: headers, downloadingTo: destination).resuming()
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint).value }
        #expect(error.description.contains("The request was not sent") && error.description.contains(word))
        let noFile = await #expect(throws: APIError.self) {
            try await provider.request(Endpoint<URL>(.get, .url(server.url)).resuming()).value
        }
        #expect(noFile?.description.contains("downloads to a file") == true)
        #expect(try server.requests.isEmpty && folder.names.isEmpty)
    }
}
