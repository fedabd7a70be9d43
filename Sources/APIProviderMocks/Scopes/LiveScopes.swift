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
        /// The ending scopes, and the ended ones with a class known to a test, which may ask for the requests.
        var ended: [ObjectIdentifier: Scope] = [:]
        /// The names and numbers of all scopes, even ended ones, and the names of secrets in ended ones. The classes stay forever, too.
        var names: [ObjectIdentifier: (name: String, number: Int, hidden: [String])] = [:]
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
            state.names[ObjectIdentifier(protocolClass)] = (name, number, [])
        }
        return scope
    }

    static func end(_ scope: Scope) {
        guard let protocolClass = scope.protocolClass else { return }
        let id = ObjectIdentifier(protocolClass)
        // In one step, because a callback may ask at any moment.
        _ = state.withLock { state in
            state.ended[id] = scope
            return state.scopes.removeValue(forKey: id)
        }
        scope.end()
        // Released after unlocking.
        _ = state.withLock { state in
            state.names[id]?.hidden = scope.contents.withLock(\.hiddenNames)
            let isKept = scope.mayBeInOtherConfigurations.withLock { $0 } || scope.contents.withLock { !$0.lateAnswers.isEmpty }
            return isKept ? nil : state.ended.removeValue(forKey: id)
        }
    }

    /// Keeps `scope` for questions to its class.
    static func keepEnded(_ scope: Scope) {
        guard let protocolClass = scope.protocolClass else { return }
        state.withLock { $0.ended[ObjectIdentifier(protocolClass)] = scope }
    }

    /// A class's scope; `nil` after the scope's end. A class without a scope is the process's.
    static func scope(of protocolClass: URLProtocol.Type) -> Scope? {
        let id = ObjectIdentifier(protocolClass)
        return state.withLock { $0.names[id] == nil ? Scope.process : $0.scopes[id] }
    }

    /// A class's ended scope, with its requests if a test knows the class.
    static func endedScope(of protocolClass: URLProtocol.Type) -> Scope {
        if let scope = state.withLock({ $0.ended[ObjectIdentifier(protocolClass)] }) { return scope }
        let known = state.withLock { $0.names[ObjectIdentifier(protocolClass)] }
        let scope = Scope(name: known?.name ?? "", protocolClass: protocolClass)
        scope.contents.withLock { $0.hiddenNames = known?.hidden ?? [] }
        scope.end()
        return scope
    }

    /// The failure of a request to the ended scope of a class.
    ///
    /// - Parameter request: Shown in the failure, but not in the scope's record.
    static func endedScopeFailure(of protocolClass: URLProtocol.Type, _ request: PreparedRequest? = nil) -> MockFailure {
        let (scope, ended) = (name(of: protocolClass), endedScope(of: protocolClass))
        let text = """
            This request's scope\(scope.map { ", \"\($0.name)\"," } ?? "") has ended. Create the provider or the session in the test that uses \
            it, and wait for its requests there.\(ended.lateAnswersText)
            """
        let shown = request.map { "\n    \(ReceivedRequest($0, hiding: ended.contents.withLock(\.hiddenNames)))" } ?? ""
        return MockFailure(text + shown, isSetupMistake: false, id: -(scope?.number ?? 0))
    }

    /// The name and the number of a class's scope, even an ended one.
    static func name(of protocolClass: URLProtocol.Type) -> (name: String, number: Int)? {
        state.withLock { $0.names[ObjectIdentifier(protocolClass)] }.map { ($0.name, $0.number) }
    }

    static var all: [Scope] { state.withLock { Array($0.scopes.values) } }
}
