import APIProvider

/// Answers requests without a stub, maybe asynchronously, for another module.
package struct AnswerSource: Sendable {
    package enum Choice: Sendable {
        case answer(Answer)
        /// No answer, and the reason for the report.
        case none(reason: String)
    }

    /// Further names with secret values, for reports about the scope's requests.
    let hiddenNames: [String]
    let choose: @Sendable (PreparedRequest) -> Choice
    /// The requests answered asynchronously, and the answers.
    let log: @Sendable () -> [any Sendable]

    package init(
        hiding hiddenNames: [String] = [], log: @escaping @Sendable () -> [any Sendable] = { [] },
        _ choose: @escaping @Sendable (PreparedRequest) -> Choice
    ) {
        (self.hiddenNames, self.choose, self.log) = (hiddenNames, choose, log)
    }
}
