import APIProvider

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension MockURLProtocol {
    /// Runs `operation` with a separate mock, so that operations may run in parallel.
    ///
    /// Inside, the static members and sessions with ``configuration`` use this scope. At the end, call ``verify()``.
    ///
    /// - Parameters:
    ///   - name: The scope's name in reports.
    ///   - operation: The code to run.
    public static func withScope<R>(_ name: String = #function, operation: () throws -> R) rethrows -> R {
        let scope = LiveScopes.begin(name: name, within: Self.scope) { makeClass($0) }
        defer { LiveScopes.end(scope) }
        return try TaskLocalContext.$scope.withValue(scope, operation: operation)
    }

    /// Runs `operation` with a separate mock, so that operations may run in parallel.
    ///
    /// In the task and its child tasks, the static members and sessions with ``configuration`` use this scope. A session that outlives the
    /// scope gets errors. At the end of `operation`, call ``verify()``. The trait `.mockNetwork` does both.
    ///
    /// - Parameters:
    ///   - name: The scope's name in reports.
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

    /// The current scope's class, for callbacks and queues: they run outside the task, and so outside the scope.
    ///
    /// ```swift
    /// let mock = MockURLProtocol.current
    /// provider.request(request).subscribe { _ in print(mock.requests) }.disposed(by: bag)
    /// ```
    ///
    /// After the scope's end, ``requests`` and ``unmatchedRequests`` stay as they were at the end, each with at most the first 64 KB of its
    /// body, until the process ends or you call ``reset()``. ``verify()`` throws: call it inside the scope.
    public static var current: MockURLProtocol.Type {
        let scope = scope
        scope.mayBeInOtherConfigurations.withLock { $0 = true }
        // In a task that outlives the scope.
        if scope.contents.withLock(\.isEnded) { LiveScopes.keepEnded(scope) }
        return protocolClass
    }

    /// ``current``, for callers that add the class to no configuration.
    package static var protocolClass: MockURLProtocol.Type { scope.protocolClass as? MockURLProtocol.Type ?? MockURLProtocol.self }

    /// A configuration for sessions answered by this scope: ephemeral, without a cache, and with ``current`` as the only protocol class. On
    /// Apple's systems, `usesClassicLoadingMode` is `true`, because the newer loader may not ask protocol classes.
    public static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [protocolClass]
        configuration.useProtocolClasses()
        // The mock's answers must not be cached. On Linux, a cancelled task of a session with a cache also ends the process.
        configuration.urlCache = nil
        // The process's scope never ends, and a test hardly needs more than the last hundred.
        // The oldest one is released outside the lock.
        _ = scope.configurations.withLock { exchange(&$0, with: $0.suffix(99) + [configuration]) }
        return configuration
    }

    /// Notes the use of an ended scope's session or provider in the caller's scope: in an XCTest, the process's.
    ///
    /// - Parameter time: The request's time, for the process's scope: an older request does not belong to the current test.
    static func noteUseOfEndedScope(at time: DispatchTime? = nil) {
        guard LiveScopes.scope(of: self) == nil else { return }
        let process = time.map { Scope.process.belongsToCurrentTest($0) } == true ? Scope.process : nil
        (Scope.current ?? process)?.record(LiveScopes.endedScopeFailure(of: self))
    }

    /// The scope of the static members.
    static var scope: Scope {
        guard self == MockURLProtocol.self else {
            // A late callback may still use the class of an ended scope. That must not affect other scopes.
            return LiveScopes.scope(of: self) ?? LiveScopes.endedScope(of: self)
        }
        return Scope.current ?? Scope.process
    }
}

// MARK: - Other modules

extension MockURLProtocol {
    /// Adds a source to the scope. The newest source is asked first.
    package static func add(_ source: AnswerSource) { scope.add(source) }

    /// The scope's sources, the oldest first. `reset` removes them.
    package static var sources: [AnswerSource] { scope.contents.withLock(\.sources) }

    /// Whether the scope's test has failed. Set by the trait `.mockNetwork`, which sees the test's issues.
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
