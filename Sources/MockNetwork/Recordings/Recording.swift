package import APIProvider
import Foundation
import MiniRx

/// A recording that a test names: where its file is, and what of it is kept and compared.
package struct Recording: Sendable {
    /// What a test does with its recording, as the variable MOCK_NETWORK of the environment says.
    package enum Mode: String, Sendable {
        case replay = ""
        case record, verify
        case verifyAll = "verify-all"

        package init(environment: [String: String]) throws {
            let text = environment["MOCK_NETWORK"] ?? ""
            guard let mode = Mode(rawValue: text) else {
                throw MockFailure(
                    "MOCK_NETWORK is \"\(text)\". Set it to record, verify or verify-all, or remove it to replay what was recorded.")
            }
            self = mode
        }
    }

    private let name: String
    let file: URL
    /// The names whose values stay, in lower case. `nil` keeps everything.
    let names: Set<String>?
    /// The names that are not compared, in lower case.
    let ignored: Set<String>
    let isForAnyHost: Bool
    private let transport: (any Transport)?

    /// Asks the server.
    private var liveTransport: any Transport { transport ?? URLSessionTransport(configuration: .ephemeral) }

    /// - Parameter filePath: The source file of the test. The recording is in the folder Recordings beside it.
    package init(
        _ name: String, redacting redaction: Redaction = .standard, keeping names: [String] = [], ignoring ignored: [String] = [],
        forAnyHost isForAnyHost: Bool = false, from transport: (any Transport)? = nil, filePath: String
    ) {
        self.name = name
        file = URL(fileURLWithPath: filePath).deletingLastPathComponent().appendingPathComponent("Recordings/\(name).har")
        self.names = redaction.showsEverything ? nil : Set(names.map { $0.lowercased() })
        self.ignored = Set(ignored.map { $0.lowercased() })
        (self.isForAnyHost, self.transport) = (isForAnyHost, transport)
    }

    /// Runs a test in the current scope with this recording.
    ///
    /// - Parameters:
    ///   - mode: What is done with the recording. `nil` asks the environment.
    ///   - test: The test, for messages and for `swift test --filter`.
    ///   - place: The place in the source that names the recording.
    ///   - files: The recordings that tests have named.
    ///   - hasFailed: Whether the test has failed without an error.
    ///   - warn: Gets a sentence about entries that were not used.
    /// - Throws: The error of the test. If it passes, an error with what `verify` has found, or why the file cannot be written.
    package func run<R>(
        _ mode: Mode? = nil, test: String, at place: String, files: RecordingFiles = .ofProcess,
        isolation: isolated (any Actor)? = #isolation, hasFailed: () -> Bool = { false }, warn: (String) -> Void,
        _ operation: () async throws -> R
    ) async throws -> R {
        let mode = try mode ?? Mode(environment: ProcessInfo.processInfo.environment)
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/") else {
            throw MockFailure("\"\(name)\" cannot name a recording, because it is not the name of a file.")
        }
        try files.claim(file, for: "\(test) (\(place))", toRecord: mode == .record)
        var isWritten = false
        defer { if mode == .record, !isWritten { files.unclaim(file) } }
        let command = "MOCK_NETWORK=record swift test --filter \(test.isPlainWord ? test : ShellText(test).word)"
        guard mode != .record else {
            let live = LiveTraffic(liveTransport)
            defer { live.close() }
            let stub = addStub(for: live)
            let result = try await operation()
            let unanswered = live.close()
            guard !hasFailed() else { return result }
            try checkThatRequestsCame(to: [stub])
            try write(live.traffic)
            isWritten = true
            let missing = unanswered.map { "\($0.method.rawValue) \($0.url.path): there was no response yet, so it is not recorded" }
            let warnings = try missing + HAR.entries(of: file).compactMap(\.omission)
            if !warnings.isEmpty { warn("\(file.lastPathComponent) has not all:\n\(warnings.joined(separator: "\n"))") }
            return result
        }
        let replayed = try addStubs(command)
        let result = try await operation()
        guard !hasFailed() else { return result }
        try checkThatRequestsCame(to: replayed.map(\.stub))
        if mode != .replay {
            let skipped = try await verify(replayed, isWhole: mode == .verifyAll, command)
            if !skipped.isEmpty {
                warn("The server was not asked where the request has what the recording left out:\n\(skipped.joined(separator: "\n"))")
            }
        }
        if let warning = unusedEntries(of: replayed, command) { warn(warning) }
        return result
    }

    /// Throws if no request has reached the mock, although the test has not removed `stubs` by a reset.
    private func checkThatRequestsCame(to stubs: [Stub]) throws {
        guard stubs.isEmpty || hasStubs(stubs), MockURLProtocol.requests.isEmpty else { return }
        throw MockFailure(MockURLProtocol.noRequestReport(setUp: "The recording \(file.lastPathComponent)"))
    }

    private func hasStubs(_ stubs: [Stub]) -> Bool {
        MockURLProtocol.scope.contents.withLock(\.stubs).contains { other in stubs.contains { $0.isSame(as: other) } }
    }

    private func addStub(for live: LiveTraffic) -> Stub {
        let place = Stub.Place(fileID: file.lastPathComponent, filePath: file.path, line: 0, column: 0)
        let stub = Stub(summary: "the server, which is recorded", matchers: [], isOptional: true, place: place, response: .live(live))
        _ = MockURLProtocol.scope.contents.withLock { exchange(&$0.live, with: live) }
        return MockURLProtocol.scope.add(stub)
    }

    private func addStubs(_ command: String) throws -> [ReplayedEntries] {
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw MockFailure("There is no recording at \(file.path). Make it: \(command)")
        }
        let scope = MockURLProtocol.scope
        scope.contents.withLock { $0.recordingHint = "If the test is right, record it again: \(command)" }
        return stubs(for: try HAR.entries(of: file)).map { entries in
            var entries = entries
            entries.stub = scope.add(entries.stub)
            return entries
        }
    }

    private func write(_ traffic: [Traffic]) throws {
        let old = (try? Data(contentsOf: file)) ?? Data()
        let new = try merged(traffic, into: old)
        guard new != old else { return }
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        // It may still hold secrets, so only its owner may read a new file.
        try PartialFile.replace(file, with: new, mode: 0o600)
    }

    /// Throws if the server answers otherwise now. Returns the requests that it was not asked again.
    private func verify(_ replayed: [ReplayedEntries], isWhole: Bool, _ command: String) async throws -> [String] {
        let transport = liveTransport
        var (changes, skipped): ([String], [String]) = ([], [])
        for entries in replayed { changes += try await entries.changes(asking: transport, isWhole: isWhole, skipped: &skipped) }
        guard !changes.isEmpty else { return skipped }
        throw MockFailure(
            "The server no longer answers as \(file.lastPathComponent) says:\n\(changes.joined(separator: "\n"))\n"
                + "To take its answers, record again: \(command)")
    }

    private func unusedEntries(of replayed: [ReplayedEntries], _ command: String) -> String? {
        guard hasStubs(replayed.map(\.stub)) else { return nil }
        let names = replayed.flatMap { entries in
            entries.places.dropFirst(entries.stub.requests.count).map { "\(entries.stub.summary) (\($0))" }
        }
        guard !names.isEmpty else { return nil }
        let more = names.count > 5 ? "\nand \(names.count - 5) more" : ""
        return "The test has not asked for everything in \(file.lastPathComponent):\n"
            + "\(names.prefix(5).joined(separator: "\n"))\(more)\nTo remove it, record again: \(command)"
    }
}

/// Which test has named which file. Two tests must not name one file.
package final class RecordingFiles: Sendable {
    package static let ofProcess = RecordingFiles()
    /// The names of the tests by the paths of the files, in lower case: some file systems do not tell case apart.
    private let tests = Locked<[String: (name: String, isRecording: Bool)]>([:])

    package init() {}

    fileprivate func claim(_ file: URL, for name: String, toRecord: Bool) throws {
        let key = file.path.lowercased()
        let old = tests.withLock { tests in
            let old = tests[key]
            guard let old, old.name != name || toRecord && old.isRecording else {
                tests[key] = (name, toRecord || old?.isRecording == true)
                return (name: String, isRecording: Bool)?.none
            }
            return old
        }
        guard let old else { return }
        let others = old.name == name ? "\(name) names it more than once" : "\(old.name) and \(name) both name it"
        throw MockFailure(
            "The recording \(file.lastPathComponent) belongs to one test, but \(others). Give each test and each argument its own: "
                + "MockURLProtocol.withRecording(\"\(file.deletingPathExtension().lastPathComponent)-\\(argument)\") { … }")
    }

    /// Lets the test record again, because it has not written the file.
    fileprivate func unclaim(_ file: URL) { tests.withLock { $0[file.path.lowercased()]?.isRecording = false } }
}

extension String {
    /// Whether a shell takes it as one word without quotes. A test's name in backticks may have other characters.
    fileprivate var isPlainWord: Bool { utf8.allSatisfy { $0.isDigit || $0.isLowercaseLetter || $0.isUppercaseLetter || $0 == 0x5F } }
}

extension ReplayedEntries {
    /// Sends each GET and HEAD that was answered once more, and returns what is different now.
    fileprivate func changes(asking transport: any Transport, isWhole: Bool, skipped: inout [String]) async throws -> [String] {
        var changes: [String] = []
        for ((entry, place), request) in zip(zip(entries, places), stub.requests) where [.get, .head].contains(request.method) {
            guard let recorded = entry.recorded, recorded.status != 0 else { continue }
            // A token or a cookie of a replayed response is no credential.
            guard
                !([request.url.absoluteString] + request.headers.map(\.value)).contains(where: {
                    $0.contains(RecordingRedactor.placeholder)
                })
            else {
                skipped.append("\(stub.summary) (\(place))")
                continue
            }
            do {
                let response = try await transport.sendStreamed(request.prepared).value
                changes += try await recorded.changes(in: response, isWhole: isWhole).map {
                    "\(stub.summary) (\(place)): \($0)"
                }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                changes.append("\(stub.summary) (\(place)): the server cannot be asked, \(error.recordedReason)")
            }
        }
        return changes
    }
}

extension HAR.Response {
    /// What a reader of this finds changed in `response`. The data of a stream, which may not end, is not read.
    fileprivate func changes(in response: APIResponse, isWhole: Bool) async throws -> [String] {
        guard response.statusCode == status else { return ["the status is \(response.statusCode), and was \(status)"] }
        let types = [response.value(forHTTPHeaderField: "Content-Type"), value(of: "content-type")].map { $0?.mediaType ?? "" }
        guard types[0] == types[1] else {
            let words = types.map { $0.isEmpty ? "missing" : $0 }
            return ["the media type is \(words[0]), and was \(words[1])"]
        }
        guard !types[0].isStreamOfLines, let old = try? content?.savedBody(), let oldTree = try? JSONTree(old) else { return [] }
        var body = Data()
        for try await chunk in ByteStream(response) { body += chunk }
        guard let tree = try? JSONTree(body) else { return ["the body is not JSON, and was"] }
        return JSONShape(oldTree).changes(in: JSONShape(tree), isWhole: isWhole)
    }
}
