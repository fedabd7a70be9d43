// A test file imports this module alone.
@_exported public import APIProvider
import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Answers the requests of a `URLSession` from memory and from files, never from the network.
///
/// ```swift
/// MockURLProtocol.stub(
///     SearchRequest(keyword: "swift"), respond: .fixture(Fixture.search))
/// let provider = DefaultAPIProvider(
///     baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
/// ```
///
/// The newest matching stub with an answer left answers a request. Without one, ``requestHandler`` answers, or else ``responseType`` with
/// ``dto``. Otherwise the request fails with a report.
///
/// In a test with the trait `.mockNetwork`, and inside `withScope`, the static members belong to that scope, so tests may run in parallel.
/// The mock works with any code that uses `URLSession`.
///
/// watchOS does not let apps add protocol classes. Use ``MockTransport`` there.
public class MockURLProtocol: URLProtocol {
    private let player = ProtocolPlayer()
    private let creationTime = DispatchTime.now()

    /// `true`: the mock answers every request.
    override public class func canInit(with request: URLRequest) -> Bool {
        noteUseOfEndedScope()
        return true
    }

    /// The request, unchanged.
    override public class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Makes the answer and passes it to the client.
    override public func startLoading() {
        let context = LoadingContext(of: self)
        player.start(context) { makeAnswer(context) }
    }

    /// Ends the request, unless the task is only suspended. The client is not called after that.
    override public func stopLoading() { if isStopFinal { player.stop() } }

    // MARK: - The answer

    private func makeAnswer(_ context: LoadingContext) {
        if let unsupportedTaskError {
            LiveScopes.scope(of: Self.self)?.record(unsupportedTaskError)
            return player.play(.failure(unsupportedTaskError), context)
        }
        var sent = requestWithBody
        let mark = task?.taskDescription
        // Transports add their sessions' settings themselves.
        if mark == TaskMark.current || mark == TaskMark.late {
            if let task { sent.secrets = task.requestSecrets }
        } else {
            if let error = sent.sessionError { return player.play(.failure(error), context) }
            if LiveScopes.scope(of: Self.self)?.mayHaveHiddenSettings == true { addSessionSettings(to: &sent) }
        }
        let time = mark == TaskMark.late ? DispatchTime(uptimeNanoseconds: 0) : creationTime
        let (runsUserCode, answer) = Self.receive(sent, madeAt: time)
        // On Linux, sessions do not apply timeouts to protocol classes (as of Swift 6.3.1).
        let timeout = sent.timeoutInterval ?? request.timeoutInterval
        guard runsUserCode else { return player.play(answer().timingOut(after: timeout), context) }
        DispatchQueue.global().async { [player] in player.schedule(answer().timingOut(after: timeout), context) }
    }

    /// Records `request` in this class's scope, and chooses the answer. The closure creates the answer, and may run the test's code.
    static func receive(
        _ request: PreparedRequest, madeAt time: DispatchTime = .now()
    ) -> (runsUserCode: Bool, answer: @Sendable () -> Answer) {
        let time = request.options.context?.subscriptionTime ?? time
        if let scope = LiveScopes.scope(of: self) { return scope.receive(request, madeAt: time) }
        noteUseOfEndedScope(at: time)
        let failure = LiveScopes.endedScopeFailure(of: self, request)
        return (false, { .failure(failure) })
    }
}

// MARK: - The tasks of a transport

extension MockURLProtocol: TaskDescribingProtocol {
    package static var describeTask: @Sendable (PreparedRequest) -> String {
        let mock: MockURLProtocol.Type = self
        return { request in
            mock.noteUseOfEndedScope()
            let isLate =
                request.options.context.map { LiveScopes.scope(of: mock)?.belongsToCurrentTest($0.subscriptionTime) == false } ?? false
            return isLate ? TaskMark.late : TaskMark.current
        }
    }

    /// A `taskDescription`: on every platform, the only value of a transport's task that reaches the protocol class.
    private enum TaskMark {
        static let current = ""
        static let late = "its test has ended"
    }
}
