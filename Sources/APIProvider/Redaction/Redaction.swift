/// Decides what is a secret, for all that shows or keeps a request: errors, logs, cURL texts, recordings, and the reports of mocks.
///
/// A secret is known by one of these:
///
/// - Its name: that of a header, a parameter of a URL or a form, or a field of JSON, XML, multipart or plain text. `Authorization`,
///   `X-Api-Key`, `access_token` and `user[password]` are such names. `token_type`, `max_tokens` and `password_changed_at` are not: they tell
///   something about a secret.
/// - Its shape: a JSON Web Token, a private key, and the tokens of well-known services, such as `ghp_…`.
/// - Its place: behind `Bearer` or `Basic`, or before the `@` of a URL.
/// - You have said so: by `\(secret:)` in a ``RequestPath``, by ``AuthenticationMiddleware``, or by ``adding(_:)``.
///
/// Secrets are also found in text within text, such as JSON in a parameter of a URL.
///
/// Errors, logs, cURL texts and reports show `…` in place of a secret. Recordings have `REDACTED`, and keep the type of each JSON value. A
/// redirect to another origin drops each header in which there is a secret.
///
/// No list knows every secret. One that has another name, or that stands in binary or compressed data, is not found.
public struct Redaction: Sendable {
    /// Leaves out secrets.
    public static let secrets = Redaction(hidesSecrets: true)
    /// Leaves out nothing. The result is as secret as the request.
    public static let none = Redaction(hidesSecrets: false)

    package let hidesSecrets: Bool
    private var names: Set<[UInt8]> = []

    private init(hidesSecrets: Bool) { self.hidesSecrets = hidesSecrets }

    /// Returns a redaction that also leaves out headers, parameters and fields with one of `names`.
    ///
    /// Case, hyphens and underscores make no difference. A name also stands for a nested field: `email` for `user[email]`.
    ///
    /// ```swift
    /// LoggingMiddleware(.bodies, redacting: .secrets.adding("email", "X-Customer"))
    /// ```
    public func adding(_ names: String...) -> Redaction {
        var redaction = self
        redaction.names.formUnion(names.map { Self.key($0.utf8) })
        return redaction
    }

    var hidesNothing: Bool { !hidesSecrets && names.isEmpty }

    /// Whether a header, a parameter or a field of this name holds a secret.
    package func hides(_ name: some StringProtocol, as kind: SecretName.Kind) -> Bool { secrecy(of: Array(name.utf8), as: kind) != .none }

    func secrecy(of name: some BidirectionalCollection<UInt8>, as kind: SecretName.Kind) -> SecretName.Secrecy {
        if !names.isEmpty {
            let last = name.split { UInt8(ascii: ".") == $0 || UInt8(ascii: "[") == $0 }.last { !Self.key($0).isEmpty }
            if names.contains(Self.key(name)) || last.map({ names.contains(Self.key($0)) }) == true { return .whole }
        }
        guard hidesSecrets else { return .none }
        return SecretName(name).secrecy(as: kind)
    }

    /// A name as it is compared: its letters and digits, in lower case.
    static func key(_ name: some Sequence<UInt8>) -> [UInt8] { name.filter(\.isWordByte).map(\.lowercased) }
}
