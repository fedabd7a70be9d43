import APIProvider
import APIProviderMocks
package import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A test's recording: the file, the secret names, and the comparison.
package struct Recording: Sendable {
    /// A test's use of the recording, by the environment's MOCK_NETWORK.
    package enum Mode: String, Sendable {
        case replay = ""
        case record

        package init(environment: [String: String]) throws {
            let text = environment["MOCK_NETWORK"] ?? ""
            guard let mode = Mode(rawValue: text) else {
                throw MockFailure("MOCK_NETWORK is \"\(text)\". Set it to record, or remove it to replay what was recorded.")
            }
            self = mode
        }
    }

    /// `nil` for the name of the test.
    private var name: String?
    var folder: URL
    let options: RecordingOptions
    private let transport: (any Transport)?
    private let bundles: @Sendable () -> [Bundle]
    private let environment: [String: String]
    private var fileName: String { "\(name ?? "").har" }
    private var file: URL { folder.appendingPathComponent(fileName) }

    /// - Parameters:
    ///   - filePath: The test's source file, beside the folder Recordings.
    ///   - bundles: The test's bundles, for a device: it has no source files.
    package init(
        _ name: String?, _ options: RecordingOptions = RecordingOptions(), from transport: (any Transport)? = nil, filePath: String,
        bundles: @escaping @Sendable () -> [Bundle] = { [.main] + Bundle.allBundles },
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        (self.name, self.options, self.transport) = (name, options, transport)
        (self.bundles, self.environment) = (bundles, environment)
        folder = URL(fileURLWithPath: filePath).deletingLastPathComponent().appendingPathComponent("Recordings")
    }

    /// Runs a test in the current scope with this recording.
    ///
    /// - Parameters:
    ///   - mode: The recording's use. `nil` asks the environment.
    ///   - test: The test's function, for messages and for `swift test --filter`.
    ///   - place: The recording's place in the source.
    ///   - hasFailed: Whether the test failed without an error.
    ///   - warn: Gets a sentence about anything but an error.
    /// - Throws: The test's error. After a passed test, the reason for no file.
    package func run<R>(
        _ mode: Mode? = nil, test: String, at place: String, isolation: isolated (any Actor)? = #isolation,
        hasFailed: () -> Bool = { false }, warn: (String) -> Void, _ operation: () async throws -> R
    ) async throws -> R {
        let mode = try mode ?? Mode(environment: environment)
        guard let name else {
            var named = self
            named.name = test.functionName
            return try await named.run(mode, test: test, at: place, isolation: isolation, hasFailed: hasFailed, warn: warn, operation)
        }
        guard !name.isEmpty, !name.hasPrefix("."), !name.utf8.contains(where: { [0, UInt8(ascii: "/")].contains($0) }) else {
            throw MockFailure("\"\(name)\" cannot name a recording, because it is not the name of a file.")
        }
        let function = test.functionName
        let owner = "\(place.prefix { $0 != ":" }) \(function)"
        let command = "MOCK_NETWORK=record swift test --filter \(function.filterWord)"
        if mode == .record { _ = try oldFile(of: owner) }
        let recorded = try mode == .record ? Replay(HARFile([]), options) : readReplay(orRecordBy: command)
        let replay = Locked(recorded)
        let recorder = mode == .replay ? nil : Recorder(transport ?? URLSessionTransport(configuration: .ephemeral))
        defer { recorder?.close() }
        MockURLProtocol.add(
            AnswerSource(hiding: options.hidden) { request in
                recorder.map { .answer($0.answer(to: request), name: "the server") }
                    ?? replay.choose(request, hint: "\n\nIf the test is right, record it again: \(command)")
            })
        let scope = MockURLProtocol.current
        let result: Result<R, any Error>
        do { result = .success(try await operation()) } catch { result = .failure(error) }
        guard case .success(let value) = result, !hasFailed() else {
            if mode == .record { warn("\(fileName) was not written, because \(test) has failed.") }
            return try result.get()
        }
        var exchanges = recorder?.exchanges ?? []
        for index in exchanges.indices { options.edit(&exchanges[index]) }
        exchanges.removeAll(where: \.isLeftOut)
        switch mode {
        case .replay: try checkUse(of: replay, isReset: scope.sources.isEmpty, command, warn)
        case .record: try write(exchanges, isReset: scope.sources.isEmpty, owner, warn)
        }
        return value
    }
}

// MARK: - Recording

extension Recording {
    private func write(_ exchanges: [RecordedExchange], isReset: Bool, _ owner: String, _ warn: (String) -> Void) throws {
        let notWritten = "\(fileName) was not written, because"
        guard !isReset else { throw MockFailure("\(notWritten) MockURLProtocol.reset() has removed what was recorded.") }
        guard !exchanges.isEmpty else {
            try checkRequests()
            throw MockFailure("\(notWritten) the stubs of the test have answered all its requests.")
        }
        // Another process may have written the file since.
        let old = try oldFile(of: owner)
        let new = NewRecording(exchanges, options, environment: environment, test: owner, name: fileName, replacing: old)
        guard new.problems.isEmpty else { throw MockFailure("\(fileName) was not written:\n\(new.problems.firstLines)") }
        // Some file systems do not tell case apart.
        guard Self.written.withLock({ $0.insert(file.path.lowercased()).inserted }) else {
            throw MockFailure(
                "\(fileName) was recorded already in this process. Name one recording for each test and each argument, and run the test once."
            )
        }
        if new.file.data != old?.data {
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try PartialFile.replace(file, with: new.file.data)
        }
        if !new.warnings.isEmpty { warn("\(fileName):\n\(new.warnings.joined(separator: "\n"))") }
    }

    /// The files that this process wrote.
    private static let written = Locked<Set<String>>([])

    /// The file of this test's earlier recording, if any.
    ///
    /// - Throws: For another test's or another program's file.
    private func oldFile(of owner: String) throws -> HARFile? {
        guard let data = try? Data(contentsOf: file) else { return nil }
        guard let old = try? HARFile(data, name: fileName), let other = old.test, old.placeholders != nil else {
            throw MockFailure(
                "\(fileName) is no recording of a test, and is not written over. Name this one differently, or delete \(fileName).")
        }
        guard other == owner else {
            throw MockFailure(
                "\(fileName) belongs to \(other). Name this one differently, or delete \(fileName) if that test is gone or has another name."
            )
        }
        return old
    }
}

// MARK: - Replaying

extension Recording {
    private func readReplay(orRecordBy command: String) throws -> Replay {
        guard let data = (try? Data(contentsOf: file)) ?? resource.flatMap({ try? Data(contentsOf: $0) }) else {
            throw MockFailure("There is no recording at \(file.path), and none in the test's bundle. Make it: \(command)")
        }
        return Replay(try HARFile(data, name: fileName), options)
    }

    /// The file in a bundle of the test, or in one of a package's inside.
    private var resource: URL? {
        let all = bundles().flatMap { [$0] + $0.paths(forResourcesOfType: "bundle", inDirectory: nil).compactMap(Bundle.init(path:)) }
        let folders: [String?] = ["Recordings", nil]
        return all.lazy.flatMap { bundle in folders.compactMap { bundle.url(forResource: fileName, withExtension: nil, subdirectory: $0) } }
            .first
    }

    private func checkUse(of replay: Locked<Replay>, isReset: Bool, _ command: String, _ warn: (String) -> Void) throws {
        guard !isReset else { return }
        try checkRequests()
        let unused = replay.withLock(\.unused).filter { $0.problem == nil }.map { "\($0.exchange.summary) (\($0.path))" }
        guard !unused.isEmpty else { return }
        warn("\(fileName) has entries that no request used:\n\(unused.firstLines)\nTo remove them, record again: \(command)")
    }

    /// Throws if the test sent no request.
    private func checkRequests() throws {
        guard MockURLProtocol.requests.isEmpty else { return }
        throw MockFailure(MockURLProtocol.noRequestReport(configuredAnswer: "The recording \(fileName)"))
    }
}

extension [String] {
    /// Five lines, and the others' number.
    fileprivate var firstLines: String { (prefix(5) + (count > 5 ? ["and \(count - 5) more"] : [])).joined(separator: "\n") }
}

extension String {
    /// A function's name, without parameters and a raw identifier's backticks.
    fileprivate var functionName: String {
        let name = hasSuffix(")") ? lastIndex(of: "(").map { self[..<$0] } ?? self[...] : self[...]
        return name.hasPrefix("`") && name.hasSuffix("`") && name.count > 1 ? String(name.dropFirst().dropLast()) : String(name)
    }

    /// The name as a regular expression, in a shell's quotes if needed.
    fileprivate var filterWord: String {
        let expression = NSRegularExpression.escapedPattern(for: self)
        let isPlain = utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 >= 0x80 || $0 == UInt8(ascii: "_") }
        return isPlain ? expression : expression.shellWord
    }
}
