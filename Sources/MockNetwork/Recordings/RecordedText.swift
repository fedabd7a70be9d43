import APIProvider
import Foundation

extension String {
    /// Whether this text, from which secrets have been left out, may have been `text`: each of them may have been anything.
    func mayHaveBeen(_ text: String) -> Bool {
        let placeholder = Redactor.placeholder
        guard let start = range(of: placeholder), let end = range(of: placeholder, options: .backwards) else { return hasBytes(of: text) }
        let (prefix, suffix) = (self[..<start.lowerBound], self[end.upperBound...])
        return text.hasPrefix(prefix) && text.dropFirst(prefix.count).hasSuffix(suffix)
    }
}
