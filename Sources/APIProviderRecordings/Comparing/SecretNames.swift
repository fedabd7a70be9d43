import APIProvider
import Foundation

/// The names under which the values of a recording are secret: those of the list, and what the test hides and keeps.
struct SecretNames: Sendable {
    /// Names that the test gives, exactly as they are written. Those of headers are case-insensitive.
    let hidden: [String]
    let kept: [String]

    init(hiding hidden: [String] = [], keeping kept: [String] = []) { (self.hidden, self.kept) = (hidden, kept) }

    /// The beginning of the placeholder of a value, such as `token`; `nil` if its names say nothing.
    func label(of value: NamedValue, inResponse isInResponse: Bool) -> String? {
        let (name, isHeader) = (value.name, value.kind == .header)
        if value.kind == .credential {
            let match = CredentialNames.match(name)
            return name == "user" ? name : match?.strength == .nonce ? "authorization" : match?.label ?? "authorization"
        }
        func isGiven(_ given: String) -> Bool { isHeader ? given.isField(name) : given == name }
        if hidden.contains(where: isGiven) { return name.asLabel }
        if let name = value.names.dropLast().last(where: hidden.contains) { return name.asLabel }
        guard !kept.contains(where: isGiven) else { return nil }
        if value.kind == .cookie { return CredentialNames.match(name)?.label ?? "cookie" }
        if let (label, strength) = CredentialNames.match(name) { return hides(value, strength, inResponse: isInResponse) ? label : nil }
        // What stands in an object stands there as if it had the object's name, but for numbers.
        guard value.kind != .number else { return nil }
        return value.names.dropLast().reversed().lazy.compactMap { CredentialNames.match($0) }.first.flatMap { label, strength in
            hides(value, strength, inResponse: isInResponse) ? label : nil
        }
    }

    private func hides(_ value: NamedValue, _ strength: CredentialNames.Strength, inResponse isInResponse: Bool) -> Bool {
        let text = value.secretText
        if value.kind == .number { return strength == .code }
        // A sentence is for the user: "is too short".
        if isInResponse, text.utf8.contains(0x20) { return false }
        switch strength {
        case .code, .password: return true
        case .token: return !isInResponse || !text.isCommon
        case .key: return !isInResponse && (value.kind == .header || !text.isCommon && !text.isWords)
        case .nonce: return !isInResponse && text.looksRandom
        }
    }
}

extension String {
    /// The beginning of a placeholder of this name.
    var asLabel: String {
        let words = CredentialNames.words(of: self).joined(separator: "-")
        return words.isEmpty ? "hidden" : words
    }
}
