import APIProvider
import Foundation

extension String {
    /// Whether this text, without its secrets, matches `text`. A secret matches anything.
    func mayHaveBeen(_ text: String) -> Bool {
        let placeholder = RecordingRedactor.placeholder
        guard let start = range(of: placeholder), let end = range(of: placeholder, options: .backwards) else { return hasBytes(of: text) }
        let (prefix, suffix) = (self[..<start.lowerBound], self[end.upperBound...])
        return text.hasPrefix(prefix) && text.dropFirst(prefix.count).hasSuffix(suffix)
    }
}
