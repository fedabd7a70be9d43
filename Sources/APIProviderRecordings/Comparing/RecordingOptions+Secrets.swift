import APIProvider
import Foundation

extension RecordingOptions {
    /// The beginning of a secret value's placeholder, such as `token`; `nil` for other values.
    func label(of value: NamedValue, inResponse isInResponse: Bool) -> String? {
        let (name, isHeader) = (value.name, value.kind == .header)
        if value.kind == .credential {
            let match = CredentialNames.match(name)
            return name == "user" ? name : match?.strength == .nonce ? "authorization" : match?.label ?? "authorization"
        }
        func isGiven(_ given: String) -> Bool { isHeader ? given.isField(name) : given == name }
        if hidden.contains(where: isGiven) { return name.asLabel }
        if !hidden.isEmpty, let name = value.outerNames.last(where: hidden.contains) { return name.asLabel }
        guard !kept.contains(where: isGiven) else { return nil }
        if value.kind == .cookie { return CredentialNames.match(name)?.label ?? "cookie" }
        // JSON in a text is an object, too.
        if let (label, strength) = CredentialNames.match(name), !(value.kind == .text && value.text.isJSONObject),
            hides(value, strength, inResponse: isInResponse)
        {
            return label
        }
        // An object's name says nothing of what is inside, but `{"password": {"current": …, "new": …}}` has passwords.
        let names = value.path, outer = names.reversed().drop { Self.roles.contains($0.lowercased()) }
        guard outer.count < names.count, let object = outer.first, !kept.contains(object),
            let (label, strength) = CredentialNames.match(object), strength == .code || strength == .password
        else { return nil }
        return hides(value, strength, inResponse: isInResponse) ? label : nil
    }

    private static let roles: Set = ["current", "new", "old", "confirmation", "repeat", "value", "text", "plain"]

    /// The beginning of the placeholder for a response's random-looking text in an object with a listed name; `nil` for other values.
    func label(ofRandomText value: NamedValue) -> String? {
        guard value.kind == .text, !kept.contains(value.name), value.secretText.looksRandom else { return nil }
        return value.path.dropLast().reversed().lazy.filter { !kept.contains($0) }.compactMap { CredentialNames.match($0) }
            .first { $0.strength != .nonce }?.label
    }

    private func hides(_ value: NamedValue, _ strength: CredentialNames.Strength, inResponse isInResponse: Bool) -> Bool {
        let text = value.secretText
        if value.kind == .number { return strength == .code }
        // A sentence is for the user: "is too short".
        if isInResponse, text.utf8.contains(0x20) { return false }
        switch strength {
        case .code, .password: return true
        case .token: return !isInResponse || !text.isCommon
        case .key: return !isInResponse && (value.kind == .header || !text.isCommon && !text.isWords())
        case .nonce: return !isInResponse && text.looksRandom
        }
    }
}

extension String {
    /// The beginning of this name's placeholders.
    var asLabel: String {
        let words = CredentialNames.words(of: self).joined(separator: "-")
        return words.isEmpty ? "hidden" : words
    }
}
