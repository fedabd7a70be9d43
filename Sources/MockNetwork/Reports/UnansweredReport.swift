import APIProvider
import Foundation

/// The report for a request without an answer: the request, the nearest stubs, and a stub to paste.
struct UnansweredReport: CustomStringConvertible {
    let request: ReceivedRequest
    /// The stubs with the number of requests that each has answered, the oldest first. The first mismatch is `nil` if it is unknown.
    let stubs: [(stub: Stub, uses: Int, firstMismatch: Int?)]
    let scope: String
    /// The reason why no source has an answer; `nil` without a source.
    var reason: String?
    /// The names of the other live scopes, if this is the scope of the process. Usually the request was meant for one of them.
    let otherScopes: [String]
    /// A stub of the process that matches, if this is another scope.
    var stubOfProcess: Stub?

    var description: String { request.redactor.redacted(text) }

    private var text: String {
        // Once, because the closures of the test run for it.
        let near = near
        return """
            MockURLProtocol has no answer for this request, and did not send it:

                \(request.description.indented(by: 4))

            \(nearest(near))\(others)\(suggestion(near))
            """
    }

    /// Where a source answers and no stubs, as in an app that replays a file, its reason says what to do.
    private func suggestion(_ near: ArraySlice<NearMiss>) -> String {
        guard !stubs.isEmpty || reason == nil else { return "" }
        if near.contains(where: \.isExhausted) {
            // The newest stub answers first, so one to paste would take the requests of this one.
            return "\n\nTo answer more requests, add answers to the sequence, or use .repeatingLast."
        }
        return """


            To answer it, paste this before the request is sent:

                \(request.stubToPaste)
            """
    }

    private func nearest(_ near: ArraySlice<NearMiss>) -> String {
        // With a source, its reason is what the reader needs, unless the test has stubs.
        guard !stubs.isEmpty || reason == nil else { return reason ?? "" }
        return nearestStubs(near) + (reason.map { "\n\n\($0)" } ?? "")
    }

    private var near: ArraySlice<NearMiss> {
        let parts = RequestParts(request)
        return stubs.reversed().map { NearMiss(of: $0.stub, uses: $0.uses, $0.firstMismatch, to: parts) }
            .sorted { $0.distance < $1.distance }.prefix(3)
    }

    private func nearestStubs(_ near: ArraySlice<NearMiss>) -> String {
        let title =
            switch stubs.count {
            case 0: "has no stubs."
            case 1: "has one stub:"
            case 2...3: "has \(stubs.count) stubs:"
            default: "has \(stubs.count) stubs. The nearest are:"
            }
        return near.enumerated().reduce("The scope \(scope) \(title)") { text, item in
            "\(text)\n\n    \(item.offset + 1). \(item.element.description.indented(by: 7))"
        }
    }

    private var others: String {
        if let stubOfProcess {
            return "\n\nThe mock of the whole process has a stub that matches: \(stubOfProcess). Add it inside this scope."
        }
        guard !otherScopes.isEmpty else { return "" }
        let more = otherScopes.count > 3 ? " and \(otherScopes.count - 3) more" : ""
        return """


            Other scopes are live: \(otherScopes.prefix(3).joined(separator: ", "))\(more). This request reached the mock of the whole process
            instead. Give its test the trait, @Test(.mockNetwork), or run it in MockURLProtocol.withScope, and create the session there with
            MockURLProtocol.configuration.
            """
    }
}

// MARK: - Near misses

/// The distance of a stub from a request, and the differences.
private struct NearMiss: CustomStringConvertible {
    let distance: Double
    /// Whether the stub matches, and has given all answers of its sequence.
    let isExhausted: Bool
    let description: String

    init(of stub: Stub, uses: Int, _ firstMismatch: Int?, to request: RequestParts) {
        let mismatches = stub.mismatches(with: request, from: firstMismatch)
        // A problem counts as one mismatch.
        distance = mismatches.reduce(stub.problem == nil ? 0 : 0.5) { $0 + $1.distance }
        let mayAnswer = stub.problem == nil && mismatches.isEmpty && uses < stub.times
        isExhausted = mayAnswer && stub.response.factory(after: uses) == nil
        let requests = uses == 1 ? "1 request" : "\(uses) requests"
        let reason =
            if !mayAnswer { "matches, but was used up after \(requests)" } else if isExhausted {
                "matches, but its sequence was exhausted after \(requests)"
            } else { "matches, but a newer stub, whose sequence was exhausted, comes first" }
        let reasons = stub.problem.map { [$0] } ?? (mismatches.isEmpty ? [reason] : mismatches.map(\.description))
        description = ([stub.description] + reasons).joined(separator: "\n")
    }
}

extension Matcher.Mismatch: CustomStringConvertible {
    var description: String {
        """
        \(name.padding(toLength: 8, withPad: " ", startingAt: 0))expected  \(difference.expected)
                got       \(difference.actual)
        """
    }
}

// MARK: - A stub to paste

extension ReceivedRequest {
    /// A call of `stub` that compiles and answers this request. Secrets are left out.
    fileprivate var stubToPaste: String {
        let sent = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        let path = redactor.path(sent)
        let parts = URLParts(url.absoluteString)
        // Without its origin, a path with two slashes at its start would start with a host.
        let origin = path.hasPrefix("//") ? parts.origin ?? "" : ""
        let pattern = (origin + (path.isEmpty ? "/" : path.replacingOccurrences(of: "*", with: "%2A").withWildcards)).debugDescription
        let secrets = Set(parts.query.filter { $0.isSecret || redactor.item($0.name, $0.value ?? "") != $0.value ?? "" }.map(\.name))
        let items = parts.query.names.filter { !secrets.contains($0) }.map { name in
            let values = parts.values(of: name).map(\.debugDescription)
            return "\(name.debugDescription): \(values.count == 1 ? values[0] : "[\(values.joined(separator: ", "))]")"
        }
        let query = items.isEmpty ? "" : ", query: [\(items.joined(separator: ", "))]"
        // One URL serves all operations of a GraphQL server.
        let body = graphQLOperation.map { ", body: .json(containing: [\"operationName\": \($0.debugDescription)])" } ?? ""
        let response = headers["Accept"]?.contains("json") == true ? ".json([\"key\": \"value\"])" : ".status(200)"
        return "MockURLProtocol.stub(\(method.literal), \(pattern)\(query)\(body), respond: \(response))"
    }

    /// The name of the operation in the body; `nil` if there is none.
    private var graphQLOperation: String? {
        guard case .object(let members)? = try? JSONTree(body),
            case .string(let text)? = members[ByteString("operationName")]
        else { return nil }
        let name = "\(text)"
        return redactor.item("operationName", name) == name ? name : nil
    }
}

extension String {
    /// The path with a star for each segment that had a secret.
    fileprivate var withWildcards: String {
        split(separator: "/", omittingEmptySubsequences: false).map { $0.contains("…") ? "*" : $0 }.joined(separator: "/")
    }
}

extension HTTPMethod {
    fileprivate var literal: String {
        let known: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options]
        return known.contains(self) ? ".\(rawValue.lowercased())" : rawValue.debugDescription
    }
}

extension String {
    /// The text with all lines but the first indented.
    fileprivate func indented(by count: Int) -> String {
        replacingOccurrences(of: "\n", with: "\n" + String(repeating: " ", count: count))
    }
}
