package import APIProvider

/// Answers the requests that no stub answers, maybe later, from outside of this module.
package struct AnswerSource: Sendable {
    package enum Choice: Sendable {
        case answer(Answer)
        /// Why there is none, for the report.
        case none(reason: String)
    }

    let choose: @Sendable (PreparedRequest) -> Choice
    /// The requests that it has answered later, and the answers.
    package let log: @Sendable () -> [any Sendable]

    package init(
        log: @escaping @Sendable () -> [any Sendable] = { [] }, _ choose: @escaping @Sendable (PreparedRequest) -> Choice
    ) {
        (self.choose, self.log) = (choose, log)
    }
}

extension MockURLProtocol {
    /// Adds a source to the scope. The newest is asked first.
    package static func add(_ source: AnswerSource) { scope.contents.withLock { $0.sources.append(source) } }

    /// The sources of the scope, the oldest first. A `reset` removes them.
    package static var sources: [AnswerSource] { scope.contents.withLock(\.sources) }

    /// The requests that stubs and sources have answered at once, and the answers.
    package static var traffic: [Traffic] { scope.contents.withLock(\.answered) }

    /// Whether the test of the scope has failed. The trait `.mockNetwork` sets it, because it sees the issues of the test.
    package static var hasTestFailed: Bool {
        get { scope.contents.withLock(\.hasTestFailed) }
        set { scope.contents.withLock { $0.hasTestFailed = newValue } }
    }
}
