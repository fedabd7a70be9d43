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

    let name: String
    let file: URL
    let comparison: Comparison
    private let editing: @Sendable (inout RecordedExchange) -> Void
    private let transport: (any Transport)?
    private let environment: [String: String]

    /// - Parameter filePath: The source file of the test. The recording is in the folder Recordings beside it.
    package init(
        _ name: String, hiding hidden: [String] = [], keeping kept: [String] = [], ignoring ignored: [String] = [],
        comparing compared: [String] = [], repeating repeated: [String] = [],
        editing: @escaping @Sendable (inout RecordedExchange) -> Void = { _ in }, forAnyHost isForAnyHost: Bool = false,
        from transport: (any Transport)? = nil, filePath: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        (self.name, self.editing, self.transport, self.environment) = (name, editing, transport, environment)
        file = URL(fileURLWithPath: filePath).deletingLastPathComponent().appendingPathComponent("Recordings/\(name).har")
        comparison = Comparison(
            SecretNames(hiding: hidden, keeping: kept), ignoring: ignored, comparing: compared, repeating: repeated,
            forAnyHost: isForAnyHost)
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
        let mode = try mode ?? Mode(environment: environment)
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), !name.contains("\0") else {
            throw MockFailure("\"\(name)\" cannot name a recording, because it is not the name of a file.")
        }
        let function = test.functionName
        let owner = "\(place.prefix { $0 != ":" }) \(function)"
        let command = "MOCK_NETWORK=record swift test --filter \(function.filterWord)"
        switch mode {
        case .replay: return try await replay(command, hasFailed, warn, operation)
        case .record: return try await record(owner, hasFailed, warn, operation)
        case .verify:
            let old = try readFile(orMakeItBy: command)
            let (result, exchanges) = try await ask(operation)
            guard !hasFailed() else { return result }
            let changes = changes(of: exchanges, since: old)
            guard changes.isEmpty else {
                throw MockFailure(
                    "The server no longer answers as \(file.lastPathComponent) says:\n\(changes.joined(separator: "\n"))\nTo take its answers, "
                        + "record again: \(command)")
            }
            return result
        }
    }

    /// Runs a test whose requests are sent to the server.
    private func ask<R>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> R
    ) async throws -> (result: R, exchanges: [RecordedExchange]) {
        let recorder = Recorder(transport ?? URLSessionTransport(configuration: .ephemeral))
        defer { recorder.close() }
        let names = comparison.names
        MockURLProtocol.add(
            AnswerSource(log: { [RecordedTraffic(exchanges: recorder.exchanges, names: names)] }) { .answer(recorder.answer(to: $0)) })
        let result = try await operation()
        var exchanges = recorder.exchanges
        for index in exchanges.indices { editing(&exchanges[index]) }
        return (result, exchanges)
    }

    func newRecording(of exchanges: [RecordedExchange], test: String, replacing old: HARFile? = nil) -> NewRecording {
        NewRecording(exchanges, comparison, environment: environment, test: test, name: file.lastPathComponent, replacing: old)
    }
}

/// The requests that a recording has sent, and the names whose values are secret in all requests of its test.
struct RecordedTraffic: Sendable {
    let exchanges: [RecordedExchange]
    let names: SecretNames
}

// MARK: - Recording

extension Recording {
    private func record<R>(
        _ owner: String, isolation: isolated (any Actor)? = #isolation, _ hasFailed: () -> Bool, _ warn: (String) -> Void,
        _ operation: () async throws -> R
    ) async throws -> R {
        _ = try oldFile(of: owner)
        let scope = MockURLProtocol.current
        let notWritten = "\(file.lastPathComponent) was not written, because"
        let (result, exchanges): (R, [RecordedExchange])
        do { (result, exchanges) = try await ask(operation) } catch {
            warn("\(notWritten) the test has failed.")
            throw error
        }
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
        // Another process may have written it since.
        let old = try oldFile(of: owner)
        let new = newRecording(of: exchanges, test: owner, replacing: old)
        guard new.problems.isEmpty else {
            let more = new.problems.count > 5 ? "\nand \(new.problems.count - 5) more" : ""
            throw MockFailure("\(file.lastPathComponent) was not written:\n\(new.problems.prefix(5).joined(separator: "\n"))\(more)")
        }
        try FilesInUse.register(file)
        if new.file.data != old?.data {
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try PartialFile.replace(file, with: new.file.data)
        }
        if !new.warnings.isEmpty { warn("\(file.lastPathComponent):\n\(new.warnings.joined(separator: "\n"))") }
        return result
    }

    /// The file that this test has recorded; `nil` if there is none.
    ///
    /// - Throws: If the file is another test's or another program's.
    private func oldFile(of owner: String) throws -> HARFile? {
        guard let data = try? Data(contentsOf: file) else { return nil }
        let name = file.lastPathComponent
        guard let old = try? HARFile(data, name: name), let other = old.test, old.placeholders != nil else {
            throw MockFailure("\(name) is no recording of a test, and is not written over. Name this one differently, or delete \(name).")
        }
        guard other == owner else {
            throw MockFailure(
                "\(name) belongs to \(other). Name this one differently, or delete \(name) if that test is gone or has another name.")
        }
        return old
    }
}

/// The files that tests of this process have recorded.
private enum FilesInUse {
    /// The paths in lower case: some file systems do not tell case apart.
    private static let paths = Locked<Set<String>>([])

    static func register(_ file: URL) throws {
        guard !paths.withLock({ $0.insert(file.path.lowercased()).inserted }) else { return }
        throw MockFailure(
            "\(file.lastPathComponent) was recorded already in this process. Name one recording for each test and each argument, and run the "
                + "test once.")
    }
}

// MARK: - Replaying

extension Recording {
    private func readFile(orMakeItBy command: String) throws -> Replay {
        guard let data = try? Data(contentsOf: file) else {
            throw MockFailure("There is no recording at \(file.path). Make it: \(command)")
        }
        return Replay(try HARFile(data, name: file.lastPathComponent), comparison)
    }

    private func replay<R>(
        isolation: isolated (any Actor)? = #isolation, _ command: String, _ hasFailed: () -> Bool, _ warn: (String) -> Void,
        _ operation: () async throws -> R
    ) async throws -> R {
        let recorded = try readFile(orMakeItBy: command)
        let source = ReplaySource(recorded, hint: "If the test is right, record it again: \(command)")
        let names = comparison.names
        MockURLProtocol.add(AnswerSource(log: { [RecordedTraffic(exchanges: [], names: names)] }) { source.choose($0) })
        let scope = MockURLProtocol.current
        let result = try await operation()
        guard !hasFailed(), !scope.sources.isEmpty else { return result }
        if MockURLProtocol.requests.isEmpty {
            throw MockFailure(MockURLProtocol.noRequestReport(configuredAnswer: "The recording \(file.lastPathComponent)"))
        }
        let unused = source.unused.filter { $0.problem == nil }.map { "\($0.exchange.summary) (\($0.path))" }
        if !unused.isEmpty {
            let more = unused.count > 5 ? "\nand \(unused.count - 5) more" : ""
            warn(
                "\(file.lastPathComponent) has entries that no request used:\n\(unused.prefix(5).joined(separator: "\n"))\(more)\nTo remove "
                    + "them, record again: \(command)")
        }
        return result
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
        let expression = NSRegularExpression.escapedPattern(for: self)
        let isPlain = utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 >= 0x80 || $0 == UInt8(ascii: "_") }
        return isPlain ? expression : expression.shellWord
    }
}
