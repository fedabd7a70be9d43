import APIProvider
import Foundation

extension RecordingOptions {
    /// What a value's names say. A large body has many values, and few names.
    struct NameRule {
        /// The label of a name that the test hides.
        let hidden: String?
        let isKept: Bool
        typealias Match = (label: String, strength: CredentialNames.Strength)
        let own: Match?
        /// The object's name, for `{"password": {"current": …, "new": …}}`.
        let password: Match?
        /// The label of an object around the value.
        let outer: String?
    }

    /// The beginning of a secret value's placeholder, such as `token`; `nil` for other values.
    ///
    /// - Parameter isSent: Whether the app has sent the text as a secret.
    func label(of value: NamedValue, inResponse isInResponse: Bool, isSent: @autoclosure () -> Bool = false) -> String? {
        let rule = rule(for: value)
        let isInResponse = isInResponse && (rule.own == nil && rule.password == nil || !isSent())
        if value.kind == .credential {
            return value.name == "user" ? value.name : rule.own?.strength == .nonce ? "authorization" : rule.own?.label ?? "authorization"
        }
        if let hidden = rule.hidden { return hidden }
        guard !rule.isKept else { return nil }
        if value.kind == .cookie { return rule.own?.label ?? "cookie" }
        if let (label, strength) = rule.own, hides(value, strength, inResponse: isInResponse), !isTree(value, strength) { return label }
        return rule.password.flatMap { hides(value, $0.strength, inResponse: isInResponse) ? $0.label : nil }
    }

    /// The beginning of the placeholder for a response's random-looking text in an object with a listed name; `nil` for other values. For
    /// anything else, an object's name says nothing of what is inside.
    func label(ofRandomText value: NamedValue) -> String? {
        guard value.kind == .text, let outer = rule(for: value).outer, value.secretText.looksRandom else { return nil }
        return outer
    }

    private func rule(for value: NamedValue) -> NameRule {
        let key = [value.kind == .header ? "header" : ""] + value.names
        // Equal Strings may have other bytes.
        if let known = rules.withLock({ $0[key] }), zip(known.key, key).allSatisfy({ $0.hasSameBytes(as: $1) }) { return known.rule }
        let rule = makeRule(for: value)
        rules.withLock { $0[key] = (key, rule) }
        return rule
    }

    private func makeRule(for value: NamedValue) -> NameRule {
        func isGiven(_ given: String) -> Bool { value.kind == .header ? given.isField(value.name) : given == value.name }
        let names = value.path, object = names.reversed().drop { Self.roles.contains($0.lowercased()) || $0.utf8.allSatisfy(\.isDigit) }
        let password = object.count < names.count ? object.first.flatMap { kept.contains($0) ? nil : CredentialNames.match($0) } : nil
        let isKept = kept.contains(where: isGiven)
        return NameRule(
            hidden: (hidden.contains(where: isGiven) ? value.name : value.outerNames.last(where: hidden.contains))?.asLabel,
            isKept: isKept, own: own(value),
            password: password.flatMap { [.code, .password].contains($0.strength) ? $0 : nil },
            outer: isKept
                ? nil
                : names.dropLast().reversed().lazy.filter { !kept.contains($0) }.compactMap { CredentialNames.match($0) }
                    .first { $0.strength != .nonce }?.label)
    }

    /// The listed words that end the value's name. Parts of a name, as in `session[id]`, are no words of one name: the last part is listed,
    /// too. But a card's number is one in any notation.
    private func own(_ value: NamedValue) -> NameRule.Match? {
        let names = value.path
        if names.last.flatMap(CredentialNames.match) != nil { return CredentialNames.match(value.name) }
        return CredentialNames.match(names.suffix(2).joined(separator: " ")).flatMap { $0.label.hasPrefix("card") ? $0 : nil }
    }

    /// Whether a text is an object, with names of its own: JSON, a form or markup. A password may have any characters.
    private func isTree(_ value: NamedValue, _ strength: CredentialNames.Strength) -> Bool {
        guard value.kind == .text else { return false }
        return value.text.isJSONObject || ![.code, .password].contains(strength) && value.text.isFormOrMarkup
    }

    private static let roles: Set = ["current", "new", "old", "confirm", "confirmation", "again", "repeat", "value", "text", "plain"]

    private func hides(_ value: NamedValue, _ strength: CredentialNames.Strength, inResponse isInResponse: Bool) -> Bool {
        let text = value.secretText
        let isShortNumber = strength == .code && text.isCommon && text.utf8.allSatisfy(\.isDigit)
        // The number of a card on a board, and a board's pins.
        if isShortNumber, value.name.lowercased().contains("number") || value.kind == .number && value.name.hasSuffix("s") { return false }
        if value.kind == .number { return strength == .code }
        // A sentence, a reason or a caption is for the user: "is too short", "too_short".
        if isInResponse, text.utf8.contains(0x20) || text.isForUser { return false }
        switch strength {
        case .code, .password: return true
        case .token: return !isInResponse || !text.isCommon
        case .key: return !isInResponse && (value.kind == .header || !text.isCommon && !text.isWords)
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
