import Foundation

/// A file's placeholders, and the places in requests where each takes a text.
struct Placeholders: Sendable {
    /// General places such as `body.items[].password`. None for a secret from a response, whose placeholder is text.
    let places: [String: Set<String>]
    /// The number of placeholders that take a text.
    let countWithPlaces: Int
    private let texts: [String]
    private let search: TextSearch

    init(_ places: [String: Set<String>]) {
        self.places = places
        countWithPlaces = places.count { !$1.isEmpty }
        texts = places.keys.sorted()
        search = TextSearch(texts.map { Array($0.utf8) })
    }

    func isFromResponse(_ placeholder: String) -> Bool { places[placeholder]?.isEmpty != false }

    /// A text's placeholders, with their places in UTF-8.
    ///
    /// - Parameter place: The text's general place in a request. A short number is a placeholder at its places alone.
    func occurrences(in text: String, at place: String = "") -> [(range: Range<Int>, placeholder: String)] {
        if places[text]?.contains(place) == true { return [(0..<text.utf8.count, text)] }
        return search.matches(in: Array(text.utf8)).map { ($0.range, texts[$0.text]) }
    }

    // MARK: - JSON Web Tokens

    /// The text with the placeholder alone for each JWT with a placeholder as its signature: the times in the claims move.
    func canonical(_ text: String) -> String {
        guard !places.isEmpty, Array(text.utf8).contains("eyJ") else { return text }
        return Self.jwt.replacing(in: text) { match in match[3].flatMap { signature(of: $0) == nil ? nil : $0 } }
    }

    func canonical(_ body: Data) -> Data {
        [UInt8](body).contains("eyJ") ? Data(canonical(String(decoding: body, as: UTF8.self)).utf8) : body
    }

    /// The placeholder at the beginning of a JWT's third part. Text behind the JWT may look like a part of the signature.
    func signature(of text: String) -> String? { occurrences(in: text).first { $0.range.lowerBound == 0 }?.placeholder }

    /// A JWT's head, claims and signature. Without groups, also other text like a head: no part of such text is read twice.
    static let jwt = Expression(#"(eyJ[A-Za-z0-9_-]++)\.([A-Za-z0-9_-]++)\.([A-Za-z0-9_-]+)|eyJ[A-Za-z0-9_-]*+"#)

    // MARK: - Other secrets

    /// An app's exchange with other secrets.
    func withOtherSecrets(_ exchange: RecordedExchange) -> RecordedExchange {
        var (exchange, message) = (exchange, Message(exchange, isResponse: false))
        for (index, part) in message.parts.enumerated() where !part.isBinary {
            let text = canonical(part.bytes.text)
            let edits = occurrences(in: text).filter { !isFromResponse($0.placeholder) }.map { range, placeholder -> Edits.Element in
                let digit = placeholder.firstIndex { $0.isASCII && $0.isLetter || $0.isNumber } ?? placeholder.startIndex
                let isNumber = placeholder.isNumber || UUID(uuidString: placeholder) != nil
                return (range, Array("\(placeholder[..<digit])9\(placeholder[digit...].dropFirst())\(isNumber ? "" : "zQ7f4k")".utf8))
            }
            message.parts[index].bytes = Array(text.utf8).applying(edits)
        }
        message.write(to: &exchange)
        return exchange
    }
}
