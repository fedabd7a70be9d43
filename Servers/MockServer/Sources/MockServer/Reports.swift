import Foundation

extension String {
    /// A report without advice in Swift, for users of the program.
    package var withoutSwift: String {
        let lines = split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard !line.hasPrefix("    ") else { return line.contains("MockURLProtocol.stub(") ? "" : String(line) }
            let sentences = line.replacingOccurrences(of: ". ", with: ".\n").components(separatedBy: "\n")
            return sentences.filter { $0.range(of: Self.swift, options: .regularExpression) == nil }.joined(separator: " ")
        }
        return lines.joined(separator: "\n").replacingOccurrences(of: "\n{3,}", with: "\n\n", options: .regularExpression)
            .trimmingCharacters(in: .newlines)
    }

    private static let swift =
        #"MockURLProtocol[.]|[.]repeatingLast|paste this|provider|URLSession|\b(?:forAnyHost|ignoring|comparing|repeating|hiding|editing):"#
}
