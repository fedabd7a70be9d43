import APIProvider
import Foundation
import TestSupport
import Testing

@testable import MockNetwork

typealias Fields = [[String: String]]

/// A HAR file as any program reads it.
struct RecordedFile {
    let text: String
    let log: [String: Any]
    let entries: [[String: Any]]

    init(_ file: URL) throws {
        let data = try Data(contentsOf: file)
        text = String(decoding: data, as: UTF8.self)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        log = try #require(object["log"] as? [String: Any])
        entries = try #require(log["entries"] as? [[String: Any]])
    }

    /// The value at a path such as `request.url`.
    func value(_ path: String, of index: Int = 0) -> Any? {
        path.split(separator: ".").reduce(entries[index] as Any?) { ($0 as? [String: Any])?[String($1)] }
    }
}

/// A test that names its recording "session", with the file in a temporary folder.
struct RecordedTest {
    let folder = TemporaryFolder()
    let warnings = Log<String>()
    var redaction = Redaction.standard
    var names: [String] = []
    var ignored: [String] = []
    var file: URL { folder.url("Recordings/session.har") }

    /// Runs the test. Its provider has a `MockTransport`, or a session.
    @discardableResult
    func run<R: Sendable>(
        _ mode: Recording.Mode, from transport: (any Transport)? = nil, bySession isBySession: Bool = false, hasFailed: Bool = false,
        _ test: @Sendable (DefaultAPIProvider) async throws -> R
    ) async throws -> R {
        let recording = Recording(
            "session", redacting: redaction, keeping: names, ignoring: ignored, from: transport, filePath: folder.url("Tests.swift").path)
        return try await MockURLProtocol.withScope {
            let provider =
                isBySession
                ? DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
                : DefaultAPIProvider(baseURL: example, transport: MockTransport())
            return try await recording.run(
                mode, test: "session", at: "Tests.swift:1", files: RecordingFiles(), hasFailed: { hasFailed }, warn: warnings.append
            ) {
                let result = try await test(provider)
                try MockURLProtocol.verify()
                return result
            }
        }
    }

    func write(_ text: String) throws {
        try FileManager.default.createDirectory(at: folder.url("Recordings"), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }
}

/// Answers the current scope from `file`, as a replay does.
func replay(_ file: URL, forAnyHost: Bool = false) throws {
    let recording = Recording(
        file.deletingPathExtension().lastPathComponent, forAnyHost: forAnyHost,
        filePath: file.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Tests.swift").path)
    for entries in recording.stubs(for: try HAR.entries(of: file)) { _ = MockURLProtocol.scope.add(entries.stub) }
}
