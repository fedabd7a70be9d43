import Foundation

extension String {
    /// A report without advice in Swift, for users of the program.
    ///
    /// A sentence is advice by its beginning alone: the words of Swift may also be those of a path, a file or a body.
    package var withoutSwift: String {
        let lines = split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            guard !line.utf8.starts(with: "    ".utf8) else {
                return line.hasPrefix("    MockURLProtocol.stub(") ? "" : line.replacingOccurrences(of: Self.encoder, with: "")
            }
            let sentences = line.replacingOccurrences(of: ". ", with: ".\n").components(separatedBy: "\n")
            return sentences.filter { sentence in !Self.advice.contains { sentence.hasPrefix($0) } }.joined(separator: " ")
        }
        return lines.joined(separator: "\n").replacingOccurrences(of: "\n{3,}", with: "\n\n", options: .regularExpression)
            .trimmingCharacters(in: .newlines)
    }

    private static let encoder = ": for those of a type, set MockURLProtocol.encoder to the encoder of the app before this stub"

    private static let advice = [
        "A provider or session created without the mock uses the network", "Create yours inside the test: DefaultAPIProvider(",
        "A URLSession with a configuration of your own", "To answer more requests, add answers to the sequence",
        "To answer it, paste this before the request", "To answer the requests to any host, pass forAnyHost:",
        "The app creates this in each run", "If it changes nothing on the server, add repeating:", "Hide one with hiding:",
        "Shorten it with editing:", "To compare them: comparing:", "Give that member another name with editing:",
        "To write it otherwise: editing:",
    ]
}
