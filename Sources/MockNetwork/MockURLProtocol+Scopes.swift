#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension MockURLProtocol {
    /// Runs `operation` with a mock of its own, so that it may run beside others. The statics act on it, and sessions of ``configuration``
    /// are answered by it.
    ///
    /// - Parameters:
    ///   - name: What error messages call it.
    ///   - operation: What is to run.
    public static func withScope<R>(_ name: String = #function, operation: () throws -> R) rethrows -> R {
        let scope = ScopeClasses.makeScope(name: name)
        defer { ScopeClasses.end(scope) }
        return try Scope.$current.withValue(scope, operation: operation)
    }

    /// Runs `operation` with a mock of its own, so that it may run beside others. The statics act on it in the task and its children, and
    /// sessions of ``configuration`` are answered by it. A session that outlives the scope gets errors that say so.
    ///
    /// - Parameters:
    ///   - name: What error messages call it.
    ///   - isolation: The caller's actor, on which `operation` runs.
    ///   - operation: What is to run.
    public static func withScope<R>(
        _ name: String = #function, isolation: isolated (any Actor)? = #isolation, operation: () async throws -> R
    ) async rethrows -> R {
        let scope = ScopeClasses.makeScope(name: name)
        defer { ScopeClasses.end(scope) }
        return try await Scope.$current.withValue(scope, operation: operation, isolation: isolation)
    }

    /// The class of the current scope, with which code in callbacks and on queues, which run outside of the task, reaches it:
    ///
    /// ```swift
    /// let mock = MockURLProtocol.current
    /// provider.request(request).subscribe { _ in print(mock.requests) }.disposed(by: bag)
    /// ```
    ///
    /// Once its scope has ended, it has no requests and no stubs any more: look at them within.
    public static var current: MockURLProtocol.Type { scope.protocolClass }

    /// A configuration for sessions that this scope answers: the ephemeral one, with ``current`` as its only protocol class and no cache.
    public static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [current]
        // On Linux a cancelled task of a session with a cache ends the process; and no answer of the mock's is to be cached.
        configuration.urlCache = nil
        return configuration
    }

    /// What the statics act on.
    static var scope: Scope {
        guard self == MockURLProtocol.self else {
            // What a late callback does with the class of a scope that has ended concerns nobody.
            return ScopeClasses.scope(of: self) ?? Scope(name: "one that has ended", protocolClass: self)
        }
        return Scope.current ?? Scope.process
    }
}
