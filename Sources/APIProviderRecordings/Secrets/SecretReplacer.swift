import APIProvider
import APIProviderMocks
import Foundation

/// Finds secrets, replaces them with placeholders, and then looks for each secret again.
struct SecretReplacer {
    /// With placeholders.
    private(set) var exchanges: [RecordedExchange]
    /// In the file's order, with each response behind its request.
    var secrets: [Secret] = []
    /// The reasons to write no file, in sentences without secrets.
    var problems: [String] = []
    /// For each message, the secret values with names.
    var named: [[NamedValue]]
    var seenNames: Set<String> = []
    /// The random-looking values without a listed name, by their names.
    var randomTexts: [String: [String]] = [:]
    /// The texts that the app sent without a listed name, and the first time.
    var openTexts: [[UInt8]: Int] = [:]
    /// Short texts without a listed name in responses.
    var clearTexts: Set<[UInt8]> = []
    /// The secrets by their bytes. Equal texts may have different bytes.
    var indices: [[UInt8]: Int] = [:]
    /// For uncommon secrets.
    private(set) var check = SecretCheck([])
    let options: RecordingOptions
    let originals: [RecordedExchange]
    let messages: [Message]

    /// - Parameters:
    ///   - options: Another program's responses stay as they are, and no such file is refused.
    ///   - environment: Variables with secrets, maybe.
    init(_ exchanges: [RecordedExchange], _ options: RecordingOptions, environment: [String: String] = [:]) {
        let exchanges = exchanges.map(options.stored)
        (self.exchanges, originals, messages) = (exchanges, exchanges, Message.all(of: exchanges))
        self.options = options
        named = Array(repeating: [], count: messages.count)
        findSecrets(environment)
        check = SecretCheck(secrets.map { $0.reach == .named ? "" : $0.text })
        setPlaceholders()
        // Another program's file answers with the data that it holds.
        for number in messages.indices where !(options.isFromOtherProgram && messages[number].isResponse) {
            let message = replaced(number)
            message.write(to: &self.exchanges[message.exchange])
            if !options.isFromOtherProgram { refuseSecrets(in: message, number) }
        }
    }

    /// The current values of a message.
    func values(of message: Message) -> [NamedValue] {
        let exchange = exchanges[message.exchange]
        guard message.isResponse else { return NamedValue.values(of: options.lines(of: exchange)) }
        return exchange.response.map { NamedValue.values(of: Lines($0)) } ?? []
    }

    /// The secret with exactly this text.
    func secret(_ text: String) -> Secret? { indices[Array(text.utf8)].map { secrets[$0] } }

    /// Whether the text contains a secret in any notation.
    func containsSecret(_ text: String) -> Bool { !check.secrets(in: Array(text.utf8)).isEmpty }

    var placeholders: Placeholders { Placeholders(Dictionary(secrets.map { ($0.placeholder, $0.places) }) { $1 }) }

    // MARK: - Placeholders

    private mutating func setPlaceholders() {
        let counts = Dictionary(secrets.map { ($0.label, 1) }) { $0 + $1 }
        var (last, taken, rest): ([String: Int], Set<String>, [Int]) = ([:], Set(secrets.map(\.text)), Array(secrets.indices))
        while !rest.isEmpty {
            for index in rest {
                let label = secrets[index].label
                // A search finds eight bytes or more.
                let width = max(3, 7 - label.utf8.count, "\(2 * counts[label, default: 0])".utf8.count)
                repeat {
                    last[label, default: 0] += 1
                    secrets[index].setPlaceholder(last[label, default: 0], width: width)
                } while !taken.insert(secrets[index].placeholder).inserted
            }
            // No placeholder occurs in the traffic.
            let search = TextSearch(rest.map { Array(secrets[$0].placeholder.utf8) })
            rest = Set(messages.flatMap { search.matches(in: $0.texts).map { rest[$0.text] } }).sorted()
        }
        for index in secrets.indices where secrets[index].text.isJWT { secrets[index].replacement = jwt(secrets[index]) }
    }

    /// The JWT with redacted claims, and the placeholder for the signature.
    private func jwt(_ secret: Secret) -> String {
        let parts = secret.text.split(separator: ".").map(String.init)
        guard let claims = Data(base64URL: parts[1]), let lines = Lines(json: claims) else { return secret.text }
        let edits = lines.values.flatMap { place, values in
            values.compactMap { value -> Edits.Element? in
                guard let range = value.range, let named = NamedValue(value, at: place) else { return nil }
                let isOfPerson =
                    value.kind == .text && Self.claimsOfPersons.contains(named.name) && !options.kept.contains(named.name)
                    && openTexts[Array(named.secretText.utf8)] == nil
                guard let claim = self.secret(named.secretText) else { return isOfPerson ? (range, named.name.jsonString) : nil }
                let isListed = ["azp", "aud", "client_id"].contains(named.name) || options.label(of: named, inResponse: true) != nil
                guard claim.reach == .everywhere || isOfPerson || isListed else { return nil }
                return (range, value.kind == .number ? Array(claim.replacement.utf8) : claim.replacement.jsonString)
            }
        }
        return "\(parts[0]).\(Data([UInt8](claims).applying(edits)).base64URL).\(secret.placeholder)"
    }

    /// These name whoever recorded. Base64 hides them from a committer's eyes.
    private static let claimsOfPersons: Set = [
        "email", "name", "picture", "phone_number", "given_name", "family_name", "nickname", "preferred_username",
    ]
}
