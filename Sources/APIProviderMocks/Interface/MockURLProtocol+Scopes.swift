import APIProvider

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension MockURLProtocol {
    /// Runs `operation` with its own mock, so that it may run in parallel with others.
    ///
    /// Inside, the static members use this scope, and it answers sessions that are created with ``configuration``. At its end, call
    /// ``verify()``, which checks that the stubs were used.
    ///
    /// - Parameters:
    ///   - name: The name of the scope in reports.
    ///   - operation: The code to run.
    public static func withScope<R>(_ name: String = #function, operation: () throws -> R) rethrows -> R {
        let scope = LiveScopes.begin(name: name, within: Self.scope) { makeClass($0) }
        defer { LiveScopes.end(scope) }
        return try TaskLocalContext.$scope.withValue(scope, operation: operation)
    }

    /// Runs `operation` with its own mock, so that it may run in parallel with others.
    ///
    /// In the task and its children, the static members use this scope, and it answers sessions that are created with ``configuration``. A
    /// session that outlives the scope gets errors that say so. At the end of `operation`, call ``verify()``, which checks that the stubs
    /// were used. The trait `.mockNetwork` does both.
    ///
    /// - Parameters:
    ///   - name: The name of the scope in reports.
    ///   - isolation: The caller's actor, on which `operation` runs.
    ///   - operation: The code to run.
    public static func withScope<R>(
        _ name: String = #function, isolation: isolated (any Actor)? = #isolation, operation: () async throws -> R
    ) async rethrows -> R {
        let scope = LiveScopes.begin(name: name, within: Self.scope) { makeClass($0) }
        defer { LiveScopes.end(scope) }
        return try await TaskLocalContext.$scope.withValue(scope, operation: operation, isolation: isolation)
    }

    // MARK: - The current scope

    /// The class of the current scope. Use it in callbacks and on queues, which run outside the task and so outside the scope:
    ///
    /// ```swift
    /// let mock = MockURLProtocol.current
    /// provider.request(request).subscribe { _ in print(mock.requests) }.disposed(by: bag)
    /// ```
    ///
    /// After its scope has ended, the class has no requests and no stubs. Check them inside the scope.
    public static var current: MockURLProtocol.Type {
        scope.mayBeInOtherConfigurations.withLock { $0 = true }
        return scopeClass
    }

    /// ``current``, for a caller that puts it into no configuration.
    package static var scopeClass: MockURLProtocol.Type { scope.protocolClass as? MockURLProtocol.Type ?? MockURLProtocol.self }

    /// A configuration for sessions whose requests this scope answers. It is ephemeral, has no cache, and ``current`` is its only protocol
    /// class. On Apple's systems, `usesClassicLoadingMode` is `true`, because the newer loader may not ask protocol classes.
    public static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [scopeClass]
        configuration.useProtocolClasses()
        // Answers of the mock must not be cached. Also, on Linux a cancelled task of a session with a cache ends the process.
        configuration.urlCache = nil
        // A test that needs more than the last hundred is unlikely, and the scope of the process never ends.
        scope.configurations.withLock { $0 = $0.suffix(99) + [configuration] }
        return configuration
    }

    /// The scope of this class. `nil` after it has ended.
    static var liveScope: Scope? { self == MockURLProtocol.self ? Scope.process : LiveScopes.scope(of: self) }

    /// If the scope of this class has ended, notes that in the scope of the caller, which has used its session or its provider. An XCTest
    /// has that of the process.
    ///
    /// - Parameter time: When the request was made, for the scope of the process: a request that is older than its test is not of this
    ///   test.
    static func noteUseOfEndedScope(at time: DispatchTime? = nil) {
        guard liveScope == nil else { return }
        let process = time.map { Scope.process.belongsToCurrentTest($0) } == true ? Scope.process : nil
        (Scope.current ?? process)?.record(endedScopeFailure())
    }

    /// The failure of a request of a session whose scope has ended.
    ///
    /// - Parameter request: Is shown, and then the scope of the request has the failure without it.
    static func endedScopeFailure(of request: PreparedRequest? = nil) -> MockFailure {
        let scope = LiveScopes.name(of: self)
        let text = """
            The scope \(scope.map { "\"\($0.name)\" " } ?? "")of the session that sent this request has ended. Create the provider or the \
            session in the test that uses it, and let the test wait for its requests.
            """
        return MockFailure(
            text + (request.map { "\n    \(ReceivedRequest($0))" } ?? ""), isSetupMistake: request == nil, id: -(scope?.number ?? 0))
    }

    /// The scope that the static members act on.
    static var scope: Scope {
        guard self == MockURLProtocol.self else {
            // A late callback may still use the class of a scope that has ended. That must not affect any other scope.
            return LiveScopes.scope(of: self) ?? Scope(name: "one that has ended", protocolClass: self)
        }
        return Scope.current ?? Scope.process
    }
}

// MARK: - Other modules

extension MockURLProtocol {
    /// Adds a source to the scope. The newest is asked first.
    package static func add(_ source: AnswerSource) { scope.add(source) }

    /// The sources of the scope, the oldest first. A `reset` removes them.
    package static var sources: [AnswerSource] { scope.contents.withLock(\.sources) }

    /// What all sources of the scope have logged.
    package static var logs: [any Sendable] { scope.logs.withLock { $0 }.flatMap { $0() } }

    /// The requests that stubs and sources have answered synchronously, and the answers.
    package static var answeredRequests: [AnsweredRequest] { scope.contents.withLock(\.answered) }

    /// Whether the test of the scope has failed. The trait `.mockNetwork` sets it, because it sees the issues of the test.
    package static var hasTestFailed: Bool {
        get { scope.hasTestFailed.withLock { $0 } }
        set { scope.hasTestFailed.withLock { $0 = newValue } }
    }
}

// MARK: - A class for each scope

// A new class for each scope: `Scoped<One<Zero<Never>>>` is number 2's.
extension MockURLProtocol {
    private static func makeClass<Digits>(_ number: Int, digits: Digits.Type = Never.self) -> URLProtocol.Type {
        guard number > 0 else { return Scoped<Digits>.self }
        return number.isMultiple(of: 2)
            ? makeClass(number / 2, digits: Zero<Digits>.self) : makeClass(number / 2, digits: One<Digits>.self)
    }

    private enum Zero<Digits> {}
    private enum One<Digits> {}
}

private final class Scoped<Number>: MockURLProtocol {}
