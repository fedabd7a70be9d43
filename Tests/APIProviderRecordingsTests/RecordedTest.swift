import APIProvider
import APIProviderMocks
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderRecordings

/// A test that names its recording "session", with the file in a temporary folder.
struct RecordedTest {
    let folder = TemporaryFolder()
    let warnings = Log<String>()
    var hidden: [String] = []
    var kept: [String] = []
    var ignored: [String] = []
    var compared: [String] = []
    var repeated: [String] = []
    var editing: @Sendable (inout RecordedExchange) -> Void = { _ in }
    var isForAnyHost = false
    var environment: [String: String] = [:]
    var file: URL { folder.url("Recordings/session.har") }

    /// Runs the test. Its provider has a `MockTransport`, or a session.
    @discardableResult
    func run<R: Sendable>(
        _ mode: Recording.Mode, from transport: (any Transport)? = nil, bySession isBySession: Bool = false, hasFailed: Bool = false,
        test function: String = "session()", _ test: @Sendable (DefaultAPIProvider) async throws -> R
    ) async throws -> R {
        // A process records a file once.
        let copy = TemporaryFolder()
        let isThere = FileManager.default.fileExists(atPath: file.path)
        if isThere { try FileManager.default.copyItem(at: folder.url("Recordings"), to: copy.url("Recordings")) }
        let recording = Recording(
            "session",
            RecordingOptions(
                hiding: hidden, ignoring: ignored, editing: editing, keeping: kept, comparing: compared, repeating: repeated,
                forAnyHost: isForAnyHost),
            from: transport, filePath: copy.url("Tests.swift").path, environment: environment)
        defer {
            let written = copy.url("Recordings/session.har")
            if mode == .record, let data = try? Data(contentsOf: written) {
                try? FileManager.default.createDirectory(at: folder.url("Recordings"), withIntermediateDirectories: true)
                try? data.write(to: file)
            }
        }
        return try await MockURLProtocol.withScope {
            let provider =
                isBySession
                ? DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
                : DefaultAPIProvider(baseURL: example, transport: MockTransport())
            return try await recording.run(
                mode, test: function, at: "Tests.swift:1", hasFailed: { hasFailed }, warn: warnings.append
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

    var text: String { get throws { try String(contentsOf: file, encoding: .utf8) } }

    /// The error of a replay of `test`.
    func failure(_ test: @Sendable (DefaultAPIProvider) async throws -> some Sendable) async -> String {
        do {
            _ = try await run(.replay, test)
            return "no error"
        } catch { return "\(error)" }
    }
}

/// A HAR file as any program reads it.
struct OpenedFile {
    let log: [String: Any]
    let entries: [[String: Any]]

    init(_ file: URL) throws {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        log = try #require(object["log"] as? [String: Any])
        entries = try #require(log["entries"] as? [[String: Any]])
    }

    /// The value at a path such as `request.url`.
    func value(_ path: String, of index: Int = 0) -> Any? {
        path.split(separator: ".").reduce(entries[index] as Any?) { ($0 as? [String: Any])?[String($1)] }
    }
}

/// A request that is sent unchanged and accepts every response.
func anyRequest(
    _ method: HTTPMethod, _ url: String, headers: [String: String] = [:], body: Data? = nil
) throws -> Endpoint<APIResponse> {
    let url = try #require(URL(string: url))
    return Endpoint(method, .url(example)) { $0 }.validating { _ in }.adapting { request in
        request.url = url
        request.headers = HTTPHeaders(headers)
        request.body = body.map { RequestBody($0) }
    }
}

func anyRequest(_ url: String) throws -> Endpoint<APIResponse> { try anyRequest(.get, url) }

/// A transport that answers at once.
func answering(
    statusCode: Int = 200, headers: HTTPHeaders = [:], _ body: @escaping @Sendable (PreparedRequest) -> Data = { _ in Data() }
) -> ClosureTransport {
    ClosureTransport { .just(APIResponse(to: $0, statusCode: statusCode, headers: headers, data: body($0))) }
}

/// A transport that answers with JSON.
func server(_ json: @escaping @Sendable (PreparedRequest) -> String) -> ClosureTransport {
    answering(headers: ["Content-Type": "application/json"]) { Data(json($0).utf8) }
}

extension DefaultAPIProvider {
    /// The body of the response.
    func text(
        _ method: HTTPMethod = .get, _ path: String, headers: [String: String] = [:], json: String? = nil, type: String = "application/json"
    ) async throws -> String {
        var headers = headers
        if json != nil { headers["Content-Type"] = type }
        let url = path.hasPrefix("http") ? path : "https://a.example\(path)"
        let response = try await request(anyRequest(method, url, headers: headers, body: json.map { Data($0.utf8) })).value
        return String(decoding: response.data, as: UTF8.self)
    }
}
