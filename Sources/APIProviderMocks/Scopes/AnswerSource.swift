import APIProvider

/// Answers requests without a stub, maybe asynchronously, for another module.
package struct AnswerSource: Sendable {
    package enum Choice: Sendable {
        /// An answer, and its name for a failed test's attachment.
        case answer(Answer, name: String)
        /// No answer, and the reason for the report.
        case none(reason: String)
    }

    /// Further names with secret values, for reports about the scope's requests.
    let hiddenNames: [String]
    let choose: @Sendable (PreparedRequest) -> Choice

    package init(hiding hiddenNames: [String] = [], _ choose: @escaping @Sendable (PreparedRequest) -> Choice) {
        (self.hiddenNames, self.choose) = (hiddenNames, choose)
    }
}
