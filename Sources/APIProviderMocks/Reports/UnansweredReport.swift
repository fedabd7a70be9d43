import APIProvider
import Foundation

/// The report on a request without an answer: the request, the nearest stubs, and a stub to paste.
struct UnansweredReport: CustomStringConvertible {
    let request: RequestLines
    /// The stubs with their numbers of answered requests, the oldest first.
    let stubs: [(stub: Stub, uses: Int)]
    let scope: String
    /// The sources' reason for not answering; `nil` without a source.
    let reason: String?
    /// The other live scopes, for the process's scope. Usually the request was meant for one of them.
    let otherScopes: [String]
    /// The process's matching stub, for another scope.
    let processStub: Stub?

    var description: String {
        let near = nearMisses
        let text = """
            MockURLProtocol has no answer for this request, and did not send it:

                \(request.request.description.indented(by: 4))

            \(list(of: near))\(others)\(suggestion(near))
            """
        return redactor.redacted(text)
    }

    private var redactor: ReportRedactor { request.request.redactor }

    private func suggestion(_ near: [NearMiss]) -> String {
        // With a source and without stubs, as in an app that replays a file, the source's reason gives the cure.
        guard !stubs.isEmpty || reason == nil else { return "" }
        if near.contains(where: \.isExhausted) {
            // The newest stub answers first, so a pasted stub would take this one's requests.
            return "\n\nTo answer more requests, add answers to the sequence, or use .repeatingLast."
        }
        return """


            To answer it, paste this before the request is sent:

                \(request.request.stubToPaste(redactor))
            """
    }

    private func list(of near: [NearMiss]) -> String {
        // The source's reason is enough, unless the test has stubs.
        if stubs.isEmpty, let reason { return reason }
        let title =
            switch stubs.count {
            case 0: "has no stubs."
            case 1: "has one stub:"
            case 2...3: "has \(stubs.count) stubs:"
            default: "has \(stubs.count) stubs. The nearest are:"
            }
        let exhausted = near.firstIndex(where: \.isExhausted)
        let (request, redactor) = (request, redactor)
        let items = near.enumerated().map { index, one in
            "\n\n    \(index + 1). \(one.text(request, redactor, exhausted).indented(by: 7))"
        }
        return "The scope \(scope) \(title)\(items.joined())\(reason.map { "\n\n\($0)" } ?? "")"
    }

    private var others: String {
        if let processStub {
            return "\n\nThe mock of the whole process has a stub that matches: \(processStub). Add it inside this scope."
        }
        guard !otherScopes.isEmpty else { return "" }
        let more = otherScopes.count > 3 ? " and \(otherScopes.count - 3) more" : ""
        return """


            Other scopes are live: \(otherScopes.prefix(3).joined(separator: ", "))\(more). This request reached the mock of the whole process
            instead. Give its test the trait, @Test(.mockNetwork), or run it in MockURLProtocol.withScope, and create the session there with
            MockURLProtocol.configuration.
            """
    }

    // MARK: - Near misses

    /// The three nearest stubs, the newest first.
    private var nearMisses: [NearMiss] {
        Array(stubs.reversed().map { NearMiss(of: $0.stub, uses: $0.uses, request) }.sorted { $0.distance < $1.distance }.prefix(3))
    }
}

/// A stub without an answer to the request.
private struct NearMiss {
    /// The reason.
    enum Reason {
        case problem(String)
        /// The matchers that do not match.
        case mismatch([Matcher])
        case usedUp(Int)
        /// Its sequence has ended.
        case exhausted(Int)
        /// A newer matching stub is exhausted.
        case notAsked
    }

    let stub: Stub
    let reason: Reason
    let distance: Double

    init(of stub: Stub, uses: Int, _ request: RequestLines) {
        let mismatches = stub.matchers.filter { !$0.matches(request) }
        self.stub = stub
        // A problem counts as one mismatch.
        distance = mismatches.reduce(stub.problem == nil ? 0 : 0.5) { $0 + $1.distance(from: request) }
        if let problem = stub.problem {
            reason = .problem(problem)
        } else if !mismatches.isEmpty {
            reason = .mismatch(mismatches)
        } else if uses >= stub.times {
            reason = .usedUp(uses)
        } else {
            reason = stub.response.factory(after: uses) == nil ? .exhausted(uses) : .notAsked
        }
    }

    var isExhausted: Bool { if case .exhausted = reason { true } else { false } }

    /// - Parameter exhausted: The first exhausted stub's index in the list.
    func text(_ request: RequestLines, _ redactor: ReportRedactor, _ exhausted: Int?) -> String {
        func requests(_ count: Int) -> String { count == 1 ? "1 request" : "\(count) requests" }
        let text =
            switch reason {
            case .problem(let problem): problem
            case .mismatch(let matchers): matchers.map { $0.mismatch(with: request, redactor).description }.joined(separator: "\n")
            case .usedUp(let count): "matches, but was used up after \(requests(count))"
            case .exhausted(let count): "matches, but its sequence was exhausted after \(requests(count))"
            case .notAsked: "matches, but an exhausted newer stub\(exhausted.map { " (\($0 + 1).)" } ?? "") answers before it"
            }
        return "\(stub)\n\(text)"
    }
}

extension String {
    /// The text with all lines but the first indented.
    fileprivate func indented(by count: Int) -> String {
        replacingOccurrences(of: "\n", with: "\n" + String(repeating: " ", count: count), options: .literal)
    }
}
