import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The scopes, each with a protocol class: on Linux, a session has no other link to the mock.
enum LiveScopes {
    private struct State {
        var lastNumber = 0
        /// The live scopes.
        var scopes: [ObjectIdentifier: Scope] = [:]
        /// The ended scopes with a class known to a test, which may ask for the requests.
        var ended: [ObjectIdentifier: Scope] = [:]
        /// The names and numbers of all scopes, even ended ones. The classes stay forever, too.
        var names: [ObjectIdentifier: (name: String, number: Int)] = [:]
    }

    private static let state = Locked(State())

    /// Creates a scope. `makeClass` gets a unique number.
    ///
    /// - Parameter outer: The scope with the initial encoder and base URL.
    static func begin(name: String, within outer: Scope, makeClass: (Int) -> URLProtocol.Type) -> Scope {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let protocolClass = makeClass(number)
        let scope = Scope(name: name, protocolClass: protocolClass, within: outer)
        state.withLock { state in
            state.scopes[ObjectIdentifier(protocolClass)] = scope
            state.names[ObjectIdentifier(protocolClass)] = (name, number)
        }
        return scope
    }

    static func end(_ scope: Scope) {
        guard let protocolClass = scope.protocolClass else { return }
        _ = state.withLock { $0.scopes.removeValue(forKey: ObjectIdentifier(protocolClass)) }
        scope.end()
        if scope.mayBeInOtherConfigurations.withLock({ $0 }) { keepEnded(scope) }
    }

    /// Keeps `scope` for questions to its class.
    static func keepEnded(_ scope: Scope) {
        guard let protocolClass = scope.protocolClass else { return }
        state.withLock { $0.ended[ObjectIdentifier(protocolClass)] = scope }
    }

    /// A class's scope; `nil` after the scope's end.
    static func scope(of protocolClass: URLProtocol.Type) -> Scope? { state.withLock { $0.scopes[ObjectIdentifier(protocolClass)] } }

    /// A class's ended scope, with its requests if a test knows the class.
    static func endedScope(of protocolClass: URLProtocol.Type) -> Scope {
        if let scope = state.withLock({ $0.ended[ObjectIdentifier(protocolClass)] }) { return scope }
        let scope = Scope(name: name(of: protocolClass)?.name ?? "", protocolClass: protocolClass)
        scope.end()
        return scope
    }

    /// The name and the number of a class's scope, even an ended one.
    static func name(of protocolClass: URLProtocol.Type) -> (name: String, number: Int)? {
        state.withLock { $0.names[ObjectIdentifier(protocolClass)] }
    }

    static var all: [Scope] { state.withLock { Array($0.scopes.values) } }
}
