import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("The bytes that a download keeps", tenMinutes)
struct PartialFileTests: DownloadSuite {
    let folder = TemporaryFolder()
    let provider = DefaultAPIProvider(transport: TestedTransport(configuration: .patient))

    private var notes: URL { folder.url(".file.bin.partial.notes") }

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
        async let first = provider.request(endpoint(server).onProgress { _ in arrived.send(()) }).value
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

    @Test("If somebody removes the hidden file and a second request begins, the first one fails, and the second one gets its file")
    func removedMeanwhile() async throws {
        let (arrived, continuations) = (Signals<Void>(), [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)])
        let begun = Log<Void>()
        let server = try LoopbackServer { request, connection in
            begun.append(())
            let number = begun.count - 1
            let (tag, body) = number == 0 ? ("\"v1\"", FileAnswer.body) : ("\"v2\"", FileAnswer.changedBody)
            FileAnswer(eTag: tag, body: body, breaksOffAfter: 12_000).send(to: request, connection)
            continuations[number].wait()
            connection.send(Data(body.utf8.dropFirst(12_000)))
        }
        let endpoint = endpoint(server).onProgress { if $0.bytesReceived == 12_000 { arrived.send(()) } }
        let first = Task { try await provider.request(endpoint).value }
        await arrived.next()
        try FileManager.default.removeItem(at: kept)
        async let second = provider.request(endpoint).value
        await arrived.next()
        continuations[0].signal()
        let error = await #expect(throws: APIError.self) { try await first.value }
        #expect(error?.description.contains("its partial file is no longer there") == true, "\(error as Any)")
        #expect(!FileManager.default.fileExists(atPath: destination.path))
        continuations[1].signal()
        _ = try await second
        try expectOnlyFile(FileAnswer.changedBody)
    }

    // MARK: - The disk

    @Test("After a power failure, a download goes on from what had been synchronized", arguments: [0, 5_000, 15_000])
    func powerFailure(synchronized: Int) async throws {
        let server = try server()
        await breakOff(server)
        var text = try String(contentsOf: notes, encoding: .utf8)
        #expect(!text.contains("secret-1234"))
        text = text.replacingOccurrences(of: "\"synchronized\":0", with: "\"synchronized\":\(synchronized)")
        let boot = try #require(text.range(of: "\"boot\":\"[^\"]*\"", options: .regularExpression))
        text.replaceSubrange(boot, with: "\"boot\":\"other\"")
        try Data(text.utf8).write(to: notes)
        _ = try await provider.request(endpoint(server)).value
        try expectOnlyFile()
        #expect(server.ranges == [nil, [0: nil, 5_000: "bytes=5000-", 15_000: "bytes=12000-"][synchronized] ?? nil])
    }

    @Test(
        "Each 16 MB are synchronized, also those of several attempts, and the notes say so, for the owner alone",
        arguments: [(33_900_000, 1, 33_554_432), (10_000_000, 2, 16_777_216)])
    func synchronizing(attemptCount: Int, attempts: Int, least: Int) async throws {
        let body = String(repeating: FileAnswer.body, count: 1_700)
        let requests = Log<Void>()
        let server = try LoopbackServer { request, connection in
            requests.append(())
            FileAnswer(body: body, breaksOffAfter: requests.count > attempts ? nil : attemptCount).send(to: request, connection)
        }
        for _ in 0..<attempts { await breakOff(server) }
        let text = try String(contentsOf: notes, encoding: .utf8)
        let range = try #require(text.range(of: "\"synchronized\":[0-9]+", options: .regularExpression))
        let count = try #require(text[range].split(separator: ":").last.flatMap { Int($0) })
        #expect(count >= least && count <= attemptCount * attempts)
        var status = stat()
        #expect(lstat(notes.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        _ = try await provider.request(endpoint(server)).value
        try expectOnlyFile(body)
    }

    @Test("A name of 255 bytes is downloaded, kept and continued", arguments: ["x", "é"])
    func longName(character: Character) async throws {
        let file = folder.url(String(repeating: character, count: 255 / character.utf8.count))
        let server = try server()
        await breakOff(server, to: file)
        #expect(try folder.names.count == 2 && folder.names.allSatisfy { $0.hasPrefix(".\(character)") })
        _ = try await provider.request(endpoint(server, to: file)).value
        #expect(try Data(contentsOf: file) == Data(FileAnswer.body.utf8))
        #expect(server.ranges == [nil, "bytes=12000-"])
        #expect(try folder.names.count == 1)
    }

    // MARK: - What else may stand there

    enum Obstacle: CaseIterable { case link, folder, pipe, otherName, otherOwner }

    @Test("Something else in place of the kept bytes is an error, and stays as it is", arguments: Obstacle.allCases)
    func obstacles(obstacle: Obstacle) async throws {
        let server = try server()
        try Data("mine".utf8).write(to: folder.url("other"))
        switch obstacle {
        case .link: try #require(symlink("other", kept.path) == 0)
        case .folder: try FileManager.default.createDirectory(at: kept, withIntermediateDirectories: false)
        case .pipe: try #require(mkfifo(kept.path, 0o600) == 0)
        case .otherName: try #require(link(folder.url("other").path, kept.path) == 0)
        case .otherOwner:
            // Only the superuser can give a file away.
            guard geteuid() == 0 else { return }
            try Data("theirs".utf8).write(to: kept)
            try #require(chown(kept.path, 12_345, 12_345) == 0)
        }
        let names = try folder.names
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint(server)).value }
        #expect(error.description.contains("partial file .file.bin.partial is not a regular file of this user"), "\(error)")
        #expect(throws: CocoaError.self) { try Endpoint.removePartialDownload(for: destination) }
        #expect(try folder.names == names)
        #expect(try Data(contentsOf: folder.url("other")) == Data("mine".utf8))
        #expect(server.requests.isEmpty)
    }

    enum Damage: CaseIterable { case longer, noNotes, otherNotes, linkedNotes, invalidTag }

    @Test("Kept bytes that are longer than the whole, or have no notes, are worth nothing", arguments: Damage.allCases)
    func damages(damage: Damage) async throws {
        let server = try server()
        await breakOff(server)
        switch damage {
        case .longer: try Data(count: 20_001).write(to: kept)
        case .noNotes: try FileManager.default.removeItem(at: notes)
        case .otherNotes: try Data("{}".utf8).write(to: notes)
        case .invalidTag:
            let text = try String(contentsOf: notes, encoding: .utf8)
            #expect(text.contains("v1"))
            try Data(text.replacingOccurrences(of: "v1", with: "v\\n1").utf8).write(to: notes)
        case .linkedNotes:
            try FileManager.default.moveItem(at: notes, to: folder.url("other"))
            try #require(symlink("other", notes.path) == 0)
        }
        _ = try await provider.request(endpoint(server)).value
        #expect(try Data(contentsOf: destination) == Data(FileAnswer.body.utf8))
        #expect(try folder.names == (damage == .linkedNotes ? ["file.bin", "other"] : ["file.bin"]))
        #expect(server.ranges == [nil, nil])
    }

    @Test("Notes that a killed process had begun to write are removed")
    func unfinishedNotes() async throws {
        let server = try server()
        await breakOff(server)
        try Data("half".utf8).write(to: folder.url(".file.bin.partial.notes.new"))
        _ = try await provider.request(endpoint(server)).value
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-"])
    }

    @Test("What is kept for a destination can be removed, and removing nothing is no error")
    func removing() async throws {
        let server = try server()
        try Data("old".utf8).write(to: destination)
        try Endpoint.removePartialDownload(for: destination)
        await breakOff(server)
        #expect(try folder.names.count == 3)
        try Endpoint.removePartialDownload(for: destination)
        #expect(try folder.names == ["file.bin"])
        #expect(try Data(contentsOf: destination) == Data("old".utf8))
        #expect(throws: CocoaError.self) { try Endpoint.removePartialDownload(for: folder.url("none/file")) }
    }
}
