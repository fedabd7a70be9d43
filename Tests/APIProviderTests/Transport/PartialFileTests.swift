import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("The bytes that a download keeps", tenMinutes)
struct PartialFileTests: DownloadSuite {
    let folder = TemporaryFolder()
    let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))

    private func endpoint(_ server: LoopbackServer, to file: URL? = nil) -> Endpoint<URL> {
        Endpoint(.get, .url(server.url), query: ["token": "secret-1234"], downloadingTo: file ?? destination).resuming()
    }

    private func breakOff(_ server: LoopbackServer, to file: URL? = nil) async {
        await #expect(throws: APIError.self) { try await provider.request(endpoint(server, to: file)).value }
    }

    private func server(_ answer: FileAnswer = FileAnswer()) throws -> LoopbackServer {
        try LoopbackServer(FileAnswer(breaksOffAfter: 12_000), answer)
    }

    // MARK: - One at a time

    @Test("A second request to the same file fails at once with a sentence, and the first one goes on")
    func twoAtOnce() async throws {
        let (arrived, goOn) = (Signals<Void>(), DispatchSemaphore(value: 0))
        let server = try LoopbackServer { request, connection in
            FileAnswer(breaksOffAfter: 12_000).send(to: request, connection)
            goOn.wait()
            connection.send(Data(FileAnswer.body.utf8.dropFirst(12_000)))
        }
        async let first = provider.request(endpoint(server).onProgress { if $0.bytesReceived > 0 { arrived.send(()) } }).value
        await arrived.next()
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint(server)).value }
        #expect(
            error.description
                == "The request was not sent: its response cannot be saved (the file cannot be written to \(destination.path): "
                + "another download to it is going on).")
        #expect(throws: CocoaError.self) { try Endpoint.removePartialDownload(for: destination) }
        goOn.signal()
        _ = try await first
        try expectOnlyFile()
        #expect(server.requests.count == 1)
    }

    @Test("A second request to the same file fails at once also while the first one waits for other downloads")
    func twoWaiting() async throws {
        let (provider, bag) = (DefaultAPIProvider(transport: SilentTransport()), DisposeBag())
        let url = try #require(URL(string: "https://a.example"))
        func download(to name: String) -> Single<URL> {
            provider.request(Endpoint(.get, .url(url), downloadingTo: folder.url(name)).resuming())
        }
        for number in 0..<40 { download(to: "\(number)").subscribe().disposed(by: bag) }
        download(to: "file").subscribe().disposed(by: bag)
        let error = await #expect(throws: APIError.self) { try await download(to: "file").value }
        #expect(error?.description.contains("another download to it is going on") == true, "\(error as Any)")
        #if os(Linux)
        // Unlike on APFS, these are two files.
        for name in ["\u{E9}", "e\u{301}"] {
            download(to: name).subscribe(onFailure: { Issue.record("\($0)") }).disposed(by: bag)
        }
        #endif
    }

    @Test("If somebody removes the hidden folder meanwhile, the request fails, and the next one gets the file")
    func removedMeanwhile() async throws {
        let (arrived, goOn) = (Signals<Void>(), DispatchSemaphore(value: 0))
        let begun = Log<Void>()
        let server = try LoopbackServer { request, connection in
            begun.append(())
            guard begun.count == 1 else { return FileAnswer(body: FileAnswer.changedBody).send(to: request, connection) }
            FileAnswer(breaksOffAfter: 12_000).send(to: request, connection)
            goOn.wait()
            connection.send(Data(FileAnswer.body.utf8.dropFirst(12_000)))
        }
        let first = Task { try await provider.request(endpoint(server).onProgress { if $0.bytesReceived > 0 { arrived.send(()) } }).value }
        await arrived.next()
        try FileManager.default.removeItem(at: keptFolder)
        goOn.signal()
        let error = await #expect(throws: APIError.self) { try await first.value }
        #expect(error?.description.contains("its partial file is no longer there") == true, "\(error as Any)")
        #expect(try folder.names.isEmpty)
        _ = try await provider.request(endpoint(server)).value
        try expectOnlyFile(FileAnswer.changedBody)
    }

    // MARK: - The disk

    private func rename(_ field: Int, to text: String) throws {
        var fields = kept.lastPathComponent.components(separatedBy: ",")
        if fields[field] == text { return }
        fields[field] = text
        try FileManager.default.moveItem(at: kept, to: keptFolder.appendingPathComponent(fields.joined(separator: ",")))
    }

    @Test(
        "After a restart of the system, a download that ended in order goes on, and the bytes of a killed process are not used",
        arguments: ["0", "another", "-", ""])
    func restart(boot: String) async throws {
        let server = try server()
        await breakOff(server)
        #expect(keptNames.count == 1 && !keptNames[0].contains("secret-1234"))
        try rename(0, to: boot)
        _ = try await provider.request(endpoint(server)).value
        try expectOnlyFile()
        #expect(server.ranges == [nil, boot == "0" ? "bytes=12000-" : nil])
    }

    @Test("While a download that survived a restart goes on, its bytes are bound to this start of the system, and again not at its end")
    func boots() async throws {
        let (arrived, goOn) = (Signals<Void>(), DispatchSemaphore(value: 0))
        let begun = Log<Void>()
        let server = try LoopbackServer { request, connection in
            begun.append(())
            guard begun.count > 1 else { return FileAnswer(breaksOffAfter: 12_000).send(to: request, connection) }
            FileAnswer(breaksOffAfter: 1_000).send(to: request, connection)
            goOn.wait()
        }
        await breakOff(server)
        try expectKept(FileAnswer.body.prefix(12_000))
        let second = Task { try await provider.request(endpoint(server).onProgress { if $0.bytesReceived > 0 { arrived.send(()) } }).value }
        await arrived.next()
        #expect(keptNames.count == 1 && !keptNames[0].hasPrefix("0,") && !keptNames[0].hasPrefix("-,"))
        goOn.signal()
        _ = await second.result
        try expectKept(FileAnswer.body.prefix(13_000))
    }

    @Test("A name of 255 bytes is downloaded, kept and continued", arguments: ["x", "é"])
    func longName(character: Character) async throws {
        let file = folder.url(String(repeating: character, count: 255 / character.utf8.count))
        let server = try server()
        await breakOff(server, to: file)
        #expect(try folder.names.count == 1 && folder.names.allSatisfy { $0.hasPrefix(".\(character)") && $0.hasSuffix(".partial") })
        _ = try await provider.request(endpoint(server, to: file)).value
        #expect(try Data(contentsOf: file) == Data(FileAnswer.body.utf8))
        #expect(server.ranges == [nil, "bytes=12000-"])
        #expect(try folder.names.count == 1)
    }

    @Test("A name that begins with a combining mark is downloaded, kept and continued", arguments: ["\u{301}x", "\u{FE0F}"])
    func markedName(name: String) async throws {
        let file = URL(fileURLWithPath: "\(folder.url.path)/\(name)")
        let server = try server()
        await breakOff(server, to: file)
        #expect(try folder.names.count == 1)
        _ = try await provider.request(endpoint(server, to: file)).value
        #expect(try Data(contentsOf: file) == Data(FileAnswer.body.utf8))
        #expect(server.ranges == [nil, "bytes=12000-"])
        #expect(try folder.names.count == 1)
    }

    // MARK: - Any server

    @Test("Whatever a server answers, kept bytes are those of their name's version, and a file is one whole version", .longComputing)
    func anyServer() async throws {
        let bodies = ["v1": FileAnswer.body, "v2": FileAnswer.changedBody, "v3": FileAnswer.body + FileAnswer.changedBody]
        for seed in 0..<UInt64(rounds(6)) {
            let random = Locked(SeededGenerator(seed: seed))
            @Sendable func one<Value>(of values: [Value]) -> Value { random.withLock { values.randomElement(using: &$0) ?? values[0] } }
            @Sendable func isTrue(of count: Int) -> Bool { one(of: Array(0..<count)) == 0 }
            let server = try LoopbackServer { request, connection in
                // Most servers keep their file for some requests.
                let version = one(of: ["v1", "v1", "v1", "v2", "v3"])
                var answer = FileAnswer(eTag: "\"\(version)\"", body: bodies[version] ?? "")
                answer.breaksOffAfter = isTrue(of: 3) ? nil : one(of: Array(0..<20_000))
                answer.partCount = isTrue(of: 6) ? one(of: Array(1..<5_000)) : nil
                answer.ignoresRange = isTrue(of: 6)
                if isTrue(of: 6) { answer.status = one(of: ["200 OK", "206 Partial", "416 No", "503 Busy", "401 No", "204 Empty"]) }
                if isTrue(of: 8) { answer.headers["Content-Range"] = one(of: ["", "bytes 5-9/20000", "bytes 0-9/*"]) }
                if isTrue(of: 8) { answer.headers["ETag"] = one(of: ["", "W/\"v1\""]) }
                answer.send(to: request, connection)
            }
            let folder = TemporaryFolder()
            let file = folder.url("file.bin")
            let kept = folder.url(".file.bin.partial")
            for _ in 0..<30 {
                let isRefused = isTrue(of: 4)
                let endpoint = endpoint(server, to: file).validating {
                    guard 200...299 ~= $0.statusCode, !isRefused else { throw APIError.unacceptableStatus($0) }
                }
                let isWhole = (try? await provider.request(endpoint).value) != nil
                if isWhole { #expect(try bodies.values.contains(String(contentsOf: file, encoding: .utf8)), "seed \(seed)") }
                let names = (try? FileManager.default.contentsOfDirectory(atPath: kept.path)) ?? []
                #expect(names.count <= (isWhole ? 0 : 1), "seed \(seed): \(names)")
                for name in names {
                    let version = name.components(separatedBy: "%22")[1]
                    let bytes = try Data(contentsOf: kept.appendingPathComponent(name))
                    #expect(Data((bodies[version] ?? "").utf8).starts(with: bytes), "seed \(seed): \(name)")
                }
            }
        }
    }

    // MARK: - What else may stand there

    enum Obstacle: CaseIterable { case link, file, pipe, otherOwner, lockedByOtherOwner }

    @Test("Something else in place of the hidden folder stays as it is, and the download keeps nothing", arguments: Obstacle.allCases)
    func obstacles(obstacle: Obstacle) async throws {
        let server = try server()
        try FileManager.default.createDirectory(at: folder.url("other"), withIntermediateDirectories: false)
        switch obstacle {
        case .link: try #require(symlink("other", keptFolder.path) == 0)
        case .file: try Data("mine".utf8).write(to: keptFolder)
        case .pipe: try #require(mkfifo(keptFolder.path, 0o600) == 0)
        case .otherOwner, .lockedByOtherOwner:
            // Only the superuser can give a folder away.
            guard geteuid() == 0 else { return }
            try FileManager.default.createDirectory(at: keptFolder, withIntermediateDirectories: false)
            try #require(chown(keptFolder.path, 12_345, 12_345) == 0)
        }
        let other = obstacle == .lockedByOtherOwner ? open(keptFolder.path, O_RDONLY | O_CLOEXEC) : -1
        defer { if other >= 0 { close(other) } }
        if other >= 0 { try #require(flock(other, LOCK_EX | LOCK_NB) == 0) }
        await breakOff(server)
        try Endpoint.removePartialDownload(for: destination)
        #expect(try await eventually { try folder.names == [".file.bin.partial", "other"] })
        _ = try await provider.request(endpoint(server)).value
        #expect(try String(contentsOf: destination, encoding: .utf8) == FileAnswer.body)
        #expect(try folder.names == [".file.bin.partial", "file.bin", "other"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url("other").path).isEmpty)
        #expect(server.ranges == [nil, nil])
    }

    enum Damage: CaseIterable { case longer, empty, link, pipe, secondName, length, tag, tooFew, tooMany, otherName }

    @Test(
        "Kept bytes that are longer than the whole, are no file, or whose name says nothing are worth nothing", arguments: Damage.allCases)
    func damages(damage: Damage) async throws {
        let server = try server()
        await breakOff(server)
        let name = kept.lastPathComponent
        let other = folder.url("other")
        try Data(FileAnswer.changedBody.prefix(12_000).utf8).write(to: other)
        switch damage {
        case .longer: try Data(count: 20_001).write(to: kept)
        case .empty: try Data().write(to: kept)
        case .link:
            try FileManager.default.removeItem(at: kept)
            try #require(symlink("../other", keptFolder.appendingPathComponent(name).path) == 0)
        case .pipe:
            try FileManager.default.removeItem(at: kept)
            try #require(mkfifo(keptFolder.appendingPathComponent(name).path, 0o600) == 0)
        case .secondName:
            try FileManager.default.removeItem(at: kept)
            try #require(link(other.path, keptFolder.appendingPathComponent(name).path) == 0)
        case .length: try rename(3, to: "-1")
        case .tag: try rename(4, to: "%22v%0A1%22")
        case .tooFew: try rename(3, to: "20000")
        case .tooMany: try rename(4, to: "v1,")
        case .otherName: try FileManager.default.moveItem(at: kept, to: keptFolder.appendingPathComponent("\u{301},,"))
        }
        let isUnharmed = damage == .tooFew
        _ = try await provider.request(endpoint(server)).value
        #expect(try Data(contentsOf: destination) == Data(FileAnswer.body.utf8))
        #expect(try folder.names == ["file.bin", "other"])
        #expect(try Data(contentsOf: other) == Data(FileAnswer.changedBody.prefix(12_000).utf8))
        #expect(server.ranges == [nil, isUnharmed ? "bytes=12000-" : nil])
    }

    @Test("Of two files that a killed process has left, the one written last is asked for, and one stays", arguments: [false, true])
    func two(isNewLast: Bool) async throws {
        let server = try LoopbackServer(FileAnswer(breaksOffAfter: 12_000), FileAnswer(breaksOffAfter: 1_000), FileAnswer())
        await breakOff(server)
        let first = kept
        let other = keptFolder.appendingPathComponent(first.lastPathComponent.replacingOccurrences(of: "v1", with: "v0"))
        try Data(FileAnswer.changedBody.prefix(5_000).utf8).write(to: other)
        for (file, date) in [(first, isNewLast ? 2_000.0 : 1_000.0), (other, isNewLast ? 1_000.0 : 2_000.0)] {
            try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: date)], ofItemAtPath: file.path)
        }
        await breakOff(server)
        try expectKept(FileAnswer.body.prefix(isNewLast ? 13_000 : 1_000))
        _ = try await provider.request(endpoint(server)).value
        try expectOnlyFile()
        #expect(server.ranges == [nil, isNewLast ? "bytes=12000-" : "bytes=5000-", isNewLast ? "bytes=13000-" : "bytes=1000-"])
        #expect(server.requests[1].headers["if-range"] == (isNewLast ? "\"v1\"" : "\"v0\""))
    }

    @Test("With an entity tag that is too long for a name, nothing is kept", arguments: [74, 75])
    func longTag(count: Int) async throws {
        let tag = "\"\(String(repeating: "t", count: count))\""
        await breakOff(try LoopbackServer(FileAnswer(eTag: tag, breaksOffAfter: 12_000)))
        #expect(try await eventually { try folder.names.count == (count == 74 ? 1 : 0) })
    }

    @Test("What is kept for a destination can be removed, and removing nothing is no error")
    func removing() async throws {
        let server = try server()
        try Data("old".utf8).write(to: destination)
        try Endpoint.removePartialDownload(for: destination)
        await breakOff(server)
        #expect(try folder.names.count == 2)
        try Endpoint.removePartialDownload(for: destination)
        #expect(try folder.names == ["file.bin"])
        #expect(try Data(contentsOf: destination) == Data("old".utf8))
        #expect(throws: CocoaError.self) { try Endpoint.removePartialDownload(for: folder.url("none/file")) }
    }
}

/// A transport of an app whose requests never end.
private struct SilentTransport: Transport {
    func send(_ request: PreparedRequest) -> Single<APIResponse> { .never() }
}
