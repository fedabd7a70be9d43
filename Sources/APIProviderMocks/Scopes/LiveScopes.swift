import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The live scopes, each with a protocol class: on Linux, a session has no other link to the mock.
enum LiveScopes {
    private struct State {
        var lastNumber = 0
        var scopes: [ObjectIdentifier: Scope] = [:]
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
    }

    /// A class's scope; `nil` after the scope's end.
    static func scope(of protocolClass: URLProtocol.Type) -> Scope? { state.withLock { $0.scopes[ObjectIdentifier(protocolClass)] } }

    /// The name and the number of a class's scope, even an ended one.
    static func name(of protocolClass: URLProtocol.Type) -> (name: String, number: Int)? {
        state.withLock { $0.names[ObjectIdentifier(protocolClass)] }
    }

    static var all: [Scope] { state.withLock { Array($0.scopes.values) } }
}
