import APIProvider

/// Answers requests without a stub, maybe asynchronously, for another module.
package struct AnswerSource: Sendable {
    package enum Choice: Sendable {
        case answer(Answer)
        /// No answer, and the reason for the report.
        case none(reason: String)
    }

    let choose: @Sendable (PreparedRequest) -> Choice
    /// The requests answered asynchronously, and the answers.
    let log: @Sendable () -> [any Sendable]

    package init(
        log: @escaping @Sendable () -> [any Sendable] = { [] }, _ choose: @escaping @Sendable (PreparedRequest) -> Choice
    ) {
        (self.choose, self.log) = (choose, log)
    }
}
