public import APIProvider
public import APIProviderMocks
public import Foundation
import MiniRx

extension MockURLProtocol {
    // MARK: - In a test

    /// Answers the requests of a test from a recording with this name: the file `Recordings/NAME.har` beside the test's source file.
    ///
    /// ```swift
    /// func testSearch() async throws {
    ///     try await MockURLProtocol.withRecording("search") {
    ///         let provider = DefaultAPIProvider(
    ///             baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
    ///         let result = try await provider.request(
    ///             SearchRequest(keyword: "swift", perPage: 2)
    ///         ).value
    ///         XCTAssertEqual(result.items.count, 2)
    ///     }
    /// }
    /// ```
    ///
    /// Use it in XCTest, and for each argument of a parameterized test: `withRecording("search-\(argument)")`. Other tests use the trait
    /// `.mockNetwork(recording:)`. The operation runs on the caller's actor, in its own scope. Stubs answer before the recording.
    /// <doc:RecordAndReplay> says how to record, what is secret, and what is compared.
    ///
    /// A recording is written, and the server is asked by `verify`, only if the operation throws nothing and `hasFailed` returns `false`.
    /// Failures of Swift Testing count too, with Swift 6.2 or later and if the test has the trait `.mockNetwork`. XCTest has no hook for
    /// failures, so pass `hasFailed: { (self.testRun?.totalFailureCount ?? 0) > 0 }`.
    ///
    /// - Parameters:
    ///   - name: The name of the recording, which no other test has.
    ///   - redaction: `.standard` replaces secrets; `.none` keeps everything.
    ///   - hidden: Names of headers, query items, JSON members, fields and cookies whose values are secret, too.
    ///   - kept: Names whose values are kept, unless they can only be a secret, such as a JWT.
    ///   - ignored: Names whose values change with each run, such as those of a time. They are not compared.
    ///   - isForAnyHost: Whether the recording also answers requests to other hosts, schemes and ports.
    ///   - transport: Asks the server. By default, a `URLSessionTransport` with an ephemeral configuration.
    ///   - hasFailed: Whether the test has failed without throwing an error.
    ///   - filePath: The source file of the test.
    ///   - line: The line of the call, for messages.
    ///   - function: The test, for messages.
    ///   - isolation: The caller's actor.
    ///   - operation: The test.
    /// - Throws: The error of `operation`, or else what `MockURLProtocol.verify()` throws. Also throws if there is no recording, if it
    ///   cannot be read, if it is not written, or if `MOCK_NETWORK=verify` has found a change.
    public static func withRecording<R>(
        _ name: String, redacting redaction: Redaction = .standard, hiding hidden: [String] = [], keeping kept: [String] = [],
        ignoring ignored: [String] = [], forAnyHost isForAnyHost: Bool = false, from transport: (any Transport)? = nil,
        hasFailed: () -> Bool = { false }, filePath: String = #filePath, line: Int = #line, function: String = #function,
        isolation: isolated (any Actor)? = #isolation, operation: () async throws -> R
    ) async throws -> R {
        let recording = Recording(
            name, redacting: redaction, hiding: hidden, keeping: kept, ignoring: ignored, forAnyHost: isForAnyHost, from: transport,
            filePath: filePath)
        let outer = current
        return try await withScope(name, isolation: isolation) {
            _ = isolation
            return try await recording.run(
                test: function, at: "\(URL(fileURLWithPath: filePath).lastPathComponent):\(line)", isolation: isolation,
                hasFailed: { hasFailed() || outer.hasTestFailed }, warn: { StandardError.print($0) }
            ) {
                _ = isolation
                let result = try await operation()
                try verify()
                return result
            }
        }
    }

    // MARK: - In an app

    /// Answers the requests of the current scope from a HAR file, outside of any test: in a preview, or in an app that a UI test has
    /// launched.
    ///
    /// ```swift
    /// func makeProvider() throws -> DefaultAPIProvider {
    ///     guard let path = ProcessInfo.processInfo.environment["RECORDING"] else {
    ///         return DefaultAPIProvider(baseURL: GitHub.apiURL)
    ///     }
    ///     try MockURLProtocol.replay(contentsOf: URL(fileURLWithPath: path))
    ///     return DefaultAPIProvider(
    ///         baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
    /// }
    /// ```
    ///
    /// A request that the file does not answer fails with a report. If several files were given, the newest is asked first. `reset()`
    /// removes them.
    ///
    /// - Parameters:
    ///   - file: A recording, or the file of a browser or a proxy.
    ///   - ignored: Names of query items, members and fields that are not compared.
    ///   - isForAnyHost: Whether it also answers requests to other hosts, schemes and ports.
    /// - Throws: If the file cannot be read: a sentence that says where it is wrong.
    public static func replay(contentsOf file: URL, ignoring ignored: [String] = [], forAnyHost isForAnyHost: Bool = false) throws {
        let source = ReplaySource(try RecordedFile(contentsOf: file), ignoring: SecretNames(ignoring: ignored), forAnyHost: isForAnyHost)
        add(AnswerSource { source.choose($0) })
    }

    // MARK: - A failed test

    /// The requests of the scope and their answers as a HAR 1.2 file without secrets, for the attachment of a failed test; `nil` if no
    /// request has come.
    package static var attachment: Data? {
        let traffic = logs.compactMap { $0 as? RecordedTraffic }
        let exchanges = answeredRequests.map(RecordedExchange.init) + traffic.flatMap(\.exchanges)
        guard !exchanges.isEmpty else { return nil }
        let names = traffic.reduce(SecretNames()) { $0.hidingThose(of: $1.names) }
        var ordered = exchanges.sorted { $0.started < $1.started }
        for index in ordered.indices { ordered[index].order = (2 * index, 2 * index + 1) }
        var replacer = SecretReplacer(ordered, names, ignoring: SecretNames())
        if !replacer.problems.isEmpty {
            // Without the bodies whose secrets cannot be replaced.
            for index in ordered.indices {
                if ordered[index].body?.isUTF8 == false { ordered[index].body = [] }
                if ordered[index].response?.body.isUTF8 == false { ordered[index].response?.body = [] }
            }
            replacer = SecretReplacer(ordered, names, ignoring: SecretNames())
        }
        return try? RecordedFile.content(of: replacer.redactedExchanges, replacer.replacedSecrets, test: nil)
    }
}

extension RecordedExchange {
    /// A request that a mock has answered.
    fileprivate init(_ answered: AnsweredRequest) {
        self.init(answered.request)
        started = answered.started
        let answer = answered.answer.timingOut(after: answered.request.timeoutInterval ?? 60)
        failure = answer.failure.map { $0 is MockFailure ? "NoAnswerFromTheMock" : $0.recordedReason }
        let body = answer.chunks.flatMap { Array($0) }
        response = answer.head.map { head in
            Response(status: head.statusCode, headers: .init(head.headerFields), body: body)
        }
        if failure != nil, response?.value(of: "Content-Type")?.mediaType.isStreamOfLines != true { response = nil }
        if response == nil, failure == nil { failure = URLError(.timedOut).recordedReason }
    }
}
