package import APIProvider
import APIProviderMocks
import Foundation
import MiniRx

/// A recording that a test names: where its file is, what of it is secret, and what is compared.
package struct Recording: Sendable {
    /// The use that a test makes of its recording, as the variable MOCK_NETWORK of the environment says.
    package enum Mode: String, Sendable {
        case replay = ""
        case record, verify

        package init(environment: [String: String]) throws {
            let text = environment["MOCK_NETWORK"] ?? ""
            guard let mode = Mode(rawValue: text) else {
                throw MockFailure("MOCK_NETWORK is \"\(text)\". Set it to record or verify, or remove it to replay what was recorded.")
            }
            self = mode
        }
    }

    private let name: String
    let file: URL
    let options: RecordingOptions
    private let transport: (any Transport)?

    /// Asks the server.
    private var liveTransport: any Transport { transport ?? URLSessionTransport(configuration: .ephemeral) }

    /// - Parameter filePath: The source file of the test. The recording is in the folder Recordings beside it.
    package init(
        _ name: String, redacting redaction: Redaction = .standard, hiding hidden: [String] = [], keeping kept: [String] = [],
        ignoring ignored: [String] = [], forAnyHost isForAnyHost: Bool = false, from transport: (any Transport)? = nil, filePath: String
    ) {
        self.name = name
        file = URL(fileURLWithPath: filePath).deletingLastPathComponent().appendingPathComponent("Recordings/\(name).har")
        options = RecordingOptions(
            keepsEverything: redaction.showsEverything, names: SecretNames(hiding: hidden, keeping: kept),
            ignored: SecretNames(ignoring: ignored), isForAnyHost: isForAnyHost)
        self.transport = transport
    }

    /// Runs a test in the current scope with this recording.
    ///
    /// - Parameters:
    ///   - mode: The use of the recording. `nil` asks the environment.
    ///   - test: The function of the test, for messages and for `swift test --filter`.
    ///   - place: The place in the source that names the recording.
    ///   - hasFailed: Whether the test has failed without an error.
    ///   - warn: Gets a sentence about what is not an error.
    /// - Throws: The error of the test. If it passes, an error with what `verify` has found, or why the file cannot be written.
    package func run<R>(
        _ mode: Mode? = nil, test: String, at place: String, isolation: isolated (any Actor)? = #isolation,
        hasFailed: () -> Bool = { false }, warn: (String) -> Void, _ operation: () async throws -> R
    ) async throws -> R {
        let mode = try mode ?? Mode(environment: ProcessInfo.processInfo.environment)
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), !name.contains("\0") else {
            throw MockFailure("\"\(name)\" cannot name a recording, because it is not the name of a file.")
        }
        let function = test.functionName
        let owner = "\(place.prefix { $0 != ":" }) \(function)"
        let command = "MOCK_NETWORK=record swift test --filter \(function.filterWord)"
        return mode == .record
            ? try await record(owner, at: place, hasFailed, warn, operation)
            : try await replay(mode, command, hasFailed, warn, operation)
    }
}

// MARK: - Recording

extension Recording {
    private func record<R>(
        _ owner: String, at place: String, isolation: isolated (any Actor)? = #isolation, _ hasFailed: () -> Bool, _ warn: (String) -> Void,
        _ operation: () async throws -> R
    ) async throws -> R {
        let old = try? Data(contentsOf: file)
        let oldFile = old.flatMap { try? RecordedFile($0, name: file.lastPathComponent) }
        if let other = oldFile?.test, other != owner {
            throw MockFailure(
                "\(file.lastPathComponent) is the recording of another test, \(other), and is not written. Each test and each argument has its own: "
                    + "MockURLProtocol.withRecording(\"\(name)-\\(argument)\") { … }. If that test is gone or has another name, remove the file."
            )
        }
        try FilesInUse.register(file, for: place)
        var staysRegistered = false
        defer { if !staysRegistered { FilesInUse.unregister(file) } }
        let recorder = Recorder(liveTransport)
        defer { recorder.close() }
        let names = options.names
        MockURLProtocol.add(
            AnswerSource(log: { [RecordedTraffic(exchanges: recorder.exchanges, names: names)] }) { .answer(recorder.answer(to: $0)) })
        let scope = MockURLProtocol.current
        let notWritten = "\(file.lastPathComponent) was not written, because"
        let result: R
        do { result = try await operation() } catch {
            warn("\(notWritten) the test has failed.")
            throw error
        }
        let exchanges = recorder.exchanges
        recorder.close()
        guard !hasFailed() else {
            warn("\(notWritten) the test has failed.")
            return result
        }
        guard !scope.sources.isEmpty else { throw MockFailure("\(notWritten) MockURLProtocol.reset() has removed what was recorded.") }
        guard !exchanges.isEmpty else {
            throw MockFailure(
                MockURLProtocol.requests.isEmpty
                    ? MockURLProtocol.noRequestReport(configuredAnswer: "The recording \(file.lastPathComponent)")
                    : "\(notWritten) the stubs of the test have answered all its requests.")
        }
        let new = try NewRecording(exchanges, options, test: owner, name: file.lastPathComponent)
        guard new.problems.isEmpty else {
            throw MockFailure("\(notWritten) a replay would not be the same:\n\(new.problems.prefix(5).joined(separator: "\n"))")
        }
        staysRegistered = true
        let comparison = oldFile.map { new.comparison(with: $0) }
        if comparison?.isSame == true { return result }
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try PartialFile.replace(file, with: new.content)
        let warnings = new.warnings + (comparison?.warnings ?? [])
        if !warnings.isEmpty { warn("\(file.lastPathComponent) was written. \(warnings.joined(separator: "\n"))") }
        return result
    }
}

/// The files that tests of this process are recording.
private enum FilesInUse {
    /// The places that name them, by the paths in lower case: some file systems do not tell case apart.
    private static let places = Locked<[String: String]>([:])

    static func register(_ file: URL, for place: String) throws {
        let other = places.withLock { places in
            let old = places[file.path.lowercased()]
            if old == nil { places[file.path.lowercased()] = place }
            return old
        }
        guard let other else { return }
        throw MockFailure(
            "\(file.lastPathComponent) was recorded by \(other) before, and now by \(place). In a process, each test and each argument has its own "
                + "recording: MockURLProtocol.withRecording(\"\(file.deletingPathExtension().lastPathComponent)-\\(argument)\") { … }")
    }

    static func unregister(_ file: URL) { _ = places.withLock { $0.removeValue(forKey: file.path.lowercased()) } }
}

// MARK: - Replaying

extension Recording {
    private func replay<R>(
        _ mode: Mode, isolation: isolated (any Actor)? = #isolation, _ command: String, _ hasFailed: () -> Bool, _ warn: (String) -> Void,
        _ operation: () async throws -> R
    ) async throws -> R {
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw MockFailure("There is no recording at \(file.path). Make it: \(command)\(otherRecordings)")
        }
        let source = ReplaySource(
            try RecordedFile(contentsOf: file), hiding: options.names, ignoring: options.ignored, forAnyHost: options.isForAnyHost,
            hint: "If the test is right, record it again: \(command)")
        let names = options.names
        MockURLProtocol.add(AnswerSource(log: { [RecordedTraffic(exchanges: [], names: names)] }) { source.choose($0) })
        let scope = MockURLProtocol.current
        let result = try await operation()
        guard !hasFailed() else { return result }
        let wasReset = scope.sources.isEmpty
        if !wasReset, MockURLProtocol.requests.isEmpty {
            throw MockFailure(MockURLProtocol.noRequestReport(configuredAnswer: "The recording \(file.lastPathComponent)"))
        }
        if mode == .verify {
            let findings = try await source.verify(asking: liveTransport)
            if !findings.skipped.isEmpty {
                warn("These have values of recorded responses, so they were not sent:\n\(findings.skipped.joined(separator: "\n"))")
            }
            if !findings.unsafe.isEmpty {
                warn("Only GET and HEAD are sent again. These were not verified:\n\(findings.unsafe.joined(separator: "\n"))")
            }
            var problems: [String] = []
            if !findings.changes.isEmpty {
                problems.append(
                    "The server no longer answers as \(file.lastPathComponent) says:\n\(findings.changes.joined(separator: "\n"))\n"
                        + "To take its answers, record again: \(command)")
            }
            if !findings.unreachable.isEmpty {
                problems.append("The server cannot be asked:\n\(findings.unreachable.joined(separator: "\n"))")
            }
            guard problems.isEmpty else { throw MockFailure(problems.joined(separator: "\n\n")) }
        }
        let unused = wasReset ? [] : source.unused.filter { $0.problem == nil }.map { "\($0.exchange.requestSummary) (\($0.entryPath))" }
        if !unused.isEmpty {
            let more = unused.count > 5 ? "\nand \(unused.count - 5) more" : ""
            warn(
                "The test has not asked for everything in \(file.lastPathComponent):\n"
                    + "\(unused.prefix(5).joined(separator: "\n"))\(more)\nTo remove it, record again: \(command)")
        }
        return result
    }
}

extension Recording {
    /// A sentence that names the recordings of the folder, for a name that is misspelt: those that begin like it come first.
    private var otherRecordings: String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)) ?? []
        let recordings = names.filter { $0.hasSuffix(".har") }.map { String($0.dropLast(4)) }
            .map { (name: $0, similarity: zip($0.lowercased(), name.lowercased()).prefix { $0 == $1 }.count) }
            .sorted { ($1.similarity, $0.name) < ($0.similarity, $1.name) }
        guard !recordings.isEmpty else { return "" }
        let more = recordings.count > 5 ? " and \(recordings.count - 5) more" : ""
        return "\nIts folder has \(recordings.prefix(5).map { "\"\($0.name)\"" }.joined(separator: ", "))\(more)."
    }
}

extension String {
    /// The name of a function, without its parameters and the backticks of a raw identifier.
    fileprivate var functionName: String {
        let name = hasSuffix(")") ? lastIndex(of: "(").map { self[..<$0] } ?? self[...] : self[...]
        return name.hasPrefix("`") && name.hasSuffix("`") && name.count > 1 ? String(name.dropFirst().dropLast()) : String(name)
    }

    /// The name as a word for a shell that is a regular expression which matches it.
    fileprivate var filterWord: String {
        let expression = unicodeScalars.map { #"\.^$|?*+()[]{}/"#.unicodeScalars.contains($0) ? "\\\($0)" : "\($0)" }.joined()
        let isPlain = utf8.allSatisfy { $0.isWordByte || $0 == UInt8(ascii: "_") }
        return isPlain ? expression : expression.shellWord
    }
}
