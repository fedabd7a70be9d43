import APIProvider
import Foundation

/// What a recording leaves out: in place of each secret it says `REDACTED`.
///
/// A secret is known by its name: that of a header, a cookie, a parameter of a URL, or a field of a JSON, form or multipart body. See
/// <doc:RecordAndReplay>.
public struct Redaction: Sendable {
    /// Leaves out cookies, and what is named like a token, a key, a secret or a password: `Authorization`, `X-API-Key`, `access_token`.
    public static let secrets = Redaction(isNeeded: true)
    /// Leaves out nothing. Such a file is as secret as what was sent.
    public static let none = Redaction(isNeeded: false)

    /// What stands in the place of a secret.
    static let placeholder = "REDACTED"

    let isNeeded: Bool
    private var names: Set<String> = []

    private init(isNeeded: Bool) { self.isNeeded = isNeeded }

    /// Leaves out also what has one of these names, in any case, and with or without `-` and `_`:
    ///
    /// ```swift
    /// RecordingMiddleware(to: file, redacting: .secrets.adding("email", "X-Customer"))
    /// ```
    public func adding(_ names: String...) -> Redaction {
        var redaction = self
        redaction.names.formUnion(names.map(Self.key))
        return redaction
    }

    /// Whether a header, a cookie or a field of a body of this name is a secret.
    func hides(_ name: some StringProtocol) -> Bool {
        isNeeded && Secret.isNamed(by: name) || !names.isEmpty && names.contains(Self.key(name))
    }

    /// Whether a header of this name is a secret. One that only sounds like it does no harm, for replay compares no headers.
    func hidesHeader(_ name: String) -> Bool {
        hides(name) || isNeeded && name.lowercased().hasSuffix("key")
    }

    /// Whether a parameter of a URL or a form of this name is a secret: some names are one only there.
    func hidesParameter(_ name: some StringProtocol) -> Bool {
        hides(name) || isNeeded && ["key", "sig", "code"].contains(name.lowercased())
    }

    /// Whether `text` may have become `recorded`: what was left out may be anything.
    static func matches(_ recorded: String, _ text: String) -> Bool {
        guard let start = recorded.range(of: placeholder), let end = recorded.range(of: placeholder, options: .backwards) else {
            return recorded == text
        }
        let (prefix, suffix) = (recorded[..<start.lowerBound], recorded[end.upperBound...])
        return text.hasPrefix(prefix) && text.dropFirst(prefix.count).hasSuffix(suffix)
    }

    private static func key(_ name: some StringProtocol) -> String { name.lowercased().filter { $0 != "_" && $0 != "-" } }
}
