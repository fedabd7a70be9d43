import Foundation

/// Why a request got no answer, for the test's author: the request, the stubs that come nearest, and one to paste.
struct UnansweredReport: CustomStringConvertible {
    let description: String

    init(_ incoming: Incoming, stubs: [(stub: Stub, uses: Int)], in scope: Scope) {
        let request = incoming.request
        let elsewhere = ScopeClasses.liveScopes
        let hint =
            scope === Scope.process && !elsewhere.isEmpty
            ? """

            Scopes are live: \(elsewhere.map { "\"\($0.name)\"" }.joined(separator: ", ")). A session made of \
            MockURLProtocol.configuration inside of a scope is answered by that scope; MockURLProtocol.self is the process-wide one.
            """ : ""
        description = """
            MockURLProtocol has no answer for this request, and did not send it:
                \(request.description.replacingOccurrences(of: "\n", with: "\n    "))
            Scope: \(scope.name).\(hint)
            Give it one before the request is sent, for example:
                MockURLProtocol.responseWithStatusCode(code: 200)
            """
    }
}
