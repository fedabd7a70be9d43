import APIProvider
import Foundation

/// A stub's expected body.
public struct BodyMatcher: Sendable {
    enum Expectation: Sendable {
        /// Exactly these lines, or at least these. The data is their source.
        case lines(Lines, of: Data, BodyLines.Notation, isSubset: Bool)
        /// Invalid JSON.
        case unreadable(Data)
        /// The value cannot be encoded.
        case unencodable(reason: String)
        /// A multipart body with a matching part for each name.
        case parts([String: BodyMatcher])
        case bytes(Data)
        case text(containing: Data)
        case condition(Condition<Data>)
    }

    @HiddenFromReflection private(set) var expectation: Expectation

    init(expectation: Expectation) { self.expectation = expectation }

    func matches(_ body: BodyLines) -> Bool {
        switch expectation {
        case .lines(let lines, _, let notation, isSubset: false): body.lines(as: notation) == lines
        case .lines(let lines, _, let notation, isSubset: true): body.lines(as: notation)?.contains(lines) == true
        case .unreadable, .unencodable: false
        case .parts(let parts):
            body.lines(as: .multipart) != nil
                && parts.allSatisfy { name, matcher in body.parts(named: name).contains(where: matcher.matches) }
        case .bytes(let bytes): body.data == bytes
        case .text(let text): text.isEmpty || body.data.range(of: text) != nil
        case .condition(let condition): body.meets(condition)
        }
    }

    /// How much of a different body matches, from 0 to 1.
    func similarity(to body: BodyLines) -> Double {
        guard case .lines(let lines, _, let notation, _) = expectation, let actual = body.lines(as: notation),
            lines.values[""] == actual.values[""]
        else { return 0 }
        return Double(lines.values.count { actual.values[$0] == $1 }) / Double(max(lines.values.count, 1))
    }

    /// Whether the test's code decides.
    var runsUserCode: Bool {
        switch expectation {
        case .condition: true
        case .parts(let parts): parts.values.contains(where: \.runsUserCode)
        default: false
        }
    }
}
