import MiniRx

/// Gives each scope its own class, because on Linux a session has no other link to its mock.
///
/// A generic class is a different class for each type argument, also for arguments that are made at run time.
enum ScopeClasses {
    private struct State {
        var count = 0
        var scopes: [ObjectIdentifier: Scope] = [:]
    }

    private static let state = Locked(State())

    /// Creates a scope with a class that was never used before.
    static func makeScope(name: String) -> Scope {
        state.withLock { state in
            state.count += 1
            let scope = Scope(name: name, protocolClass: makeClass(state.count, digits: End.self))
            state.scopes[ObjectIdentifier(scope.protocolClass)] = scope
            return scope
        }
    }

    static func end(_ scope: Scope) {
        _ = state.withLock { $0.scopes.removeValue(forKey: ObjectIdentifier(scope.protocolClass)) }
    }

    /// The scope of a class. `nil` after the scope has ended.
    static func scope(of protocolClass: MockURLProtocol.Type) -> Scope? {
        state.withLock { $0.scopes[ObjectIdentifier(protocolClass)] }
    }

    static var liveScopes: [Scope] { state.withLock { Array($0.scopes.values) } }

    private static func makeClass<Digits>(_ number: Int, digits: Digits.Type) -> MockURLProtocol.Type {
        guard number > 0 else { return ScopedMockURLProtocol<Digits>.self }
        return number.isMultiple(of: 2)
            ? makeClass(number / 2, digits: Zero<Digits>.self) : makeClass(number / 2, digits: One<Digits>.self)
    }

    private enum End {}
    private enum Zero<Digits> {}
    private enum One<Digits> {}
}

private final class ScopedMockURLProtocol<Number>: MockURLProtocol {}
