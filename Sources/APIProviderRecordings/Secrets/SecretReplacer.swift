import APIProvider
import Foundation
import MockNetwork

/// Puts a placeholder in the place of each secret of some exchanges, and tries to find the secrets afterwards.
struct SecretReplacer {
    /// With placeholders.
    private(set) var exchanges: [RecordedExchange]
    /// In the order in which they stand in the file.
    private(set) var secrets: [Secret]
    /// The reasons why these exchanges cannot be written, in sentences without secrets.
    private(set) var problems: [String] = []
    /// The names of values that look random and stay as they came.
    let keptNames: [String]
    /// All names in the recording.
    let seenNames: Set<String>
    /// Sentences about times at which a replay may become another.
    let expiryWarnings: [String]
    private let originals: [RecordedExchange]
    private let names: SecretNames
    /// The secrets by their texts.
    private let indices: [String: Int]
    /// The texts that are replaced wherever they stand, in both cases if they are hexadecimal, and the secret of each.
    private let everywhere: (search: TextSearch, secrets: [Int])
    /// Looks for all of them, or for those that the app has from responses.
    private let (check, checkOfResponses): (SecretCheck, SecretCheck)
    /// The exchanges whose requests have what the app has from a response.
    private var requestsWithResponses: Set<Int> = []

    /// Replaces all secrets, and tries to find them afterwards.
    ///
    /// - Parameter environment: Its variables may be secrets, too.
    init(_ exchanges: [RecordedExchange], _ names: SecretNames, environment: [String: String] = [:]) {
        let (parts, finder): ([MessagePart], SecretFinder)
        (self, parts, finder) = Self.finding(in: exchanges, names, environment)
        for (key, part) in finder.keys.sorted(by: { $0.key < $1.key }) {
            problems += everywhere.search.matches(in: Array(key.utf8)).map { match in
                "\(exchanges[part.exchange].summary) has \(secrets[everywhere.secrets[match.text]].placeholder) as the name of a member in "
                    + "\(part.name), where it cannot be replaced. To write it otherwise: \(part.cure)"
            }
        }
        replace(in: parts, finder.partsOfCommonSecrets)
    }

    /// Replaces the secrets of the test and the environment in the file of another program. What the app has from a response is text.
    init(requestsOf exchanges: [RecordedExchange], _ comparison: Comparison) {
        var ordered = exchanges
        for index in ordered.indices { ordered[index].order = (2 * index, 2 * index + 1) }
        let parts: [MessagePart]
        (self, parts, _) = Self.finding(in: ordered, comparison.names, [:])
        for var part in parts {
            part.bytes = replaced(part, SecretCheck([])) { !$0.isFromResponse }.bytes
            part.write(to: &self.exchanges[part.exchange])
        }
    }

    private static func finding(
        in exchanges: [RecordedExchange], _ names: SecretNames, _ environment: [String: String]
    ) -> (SecretReplacer, [MessagePart], SecretFinder) {
        let parts = exchanges.enumerated().flatMap { index, exchange in
            [false, true].flatMap { MessagePart.parts(of: exchange, at: index, isResponse: $0) }
        }
        let times = parts.map { $0.isResponse ? exchanges[$0.exchange].order.end : exchanges[$0.exchange].order.begin }
        let finder = SecretFinder(in: parts, times: times, names, marked: exchanges.map(\.markedSecrets), environment: environment)
        return (SecretReplacer(exchanges, names, finder, parts), parts, finder)
    }

    private init(_ exchanges: [RecordedExchange], _ names: SecretNames, _ finder: SecretFinder, _ parts: [MessagePart]) {
        let secrets = finder.secrets
        let indices = Dictionary(secrets.enumerated().map { ($1.text, $0) }) { $1 }
        (self.exchanges, originals, self.names, self.secrets, self.indices) = (exchanges, exchanges, names, secrets, indices)
        seenNames = finder.seenNames
        expiryWarnings = finder.expiries.sorted { $0.key < $1.key }.map { name, expiry in
            "\(exchanges[expiry.part.exchange].summary) has \(name): the test may fail after \(expiry.text)."
        }
        keptNames = finder.randomValues.filter { name, texts in
            !name.hasPrefix("path ") && texts.contains { indices[$0] == nil }
        }.keys.sorted()
        let searched = secrets.indices.filter { !secrets[$0].isCommon }.flatMap { index in
            secrets[index].text.inBothCases.map { (text: Array($0.utf8), secret: index) }
        }
        everywhere = (TextSearch(searched.map(\.text)), searched.map(\.secret))
        check = SecretCheck(secrets.map { $0.isCommon ? "" : $0.text })
        checkOfResponses = SecretCheck(secrets.map { $0.isCommon || !$0.isFromResponse ? "" : $0.text })
        setPlaceholders(parts)
    }

    /// A request as the app sends it in a replay: what it takes from a response is a placeholder, and all else is as it came.
    func replayedRequest(_ index: Int) -> RecordedExchange {
        var exchange = originals[index]
        guard requestsWithResponses.contains(index) else { return exchange }
        for var part in MessagePart.parts(of: originals[index], at: index, isResponse: false) {
            part.bytes = replaced(part, checkOfResponses) { $0.isFromResponse }.bytes
            part.write(to: &exchange)
        }
        return exchange
    }

    // MARK: - Placeholders

    /// The requests, and the placeholders that stand in the exchanges with the places of requests where each takes a text in a replay: where
    /// its name says that it is the secret or, if the program or the environment says so, wherever it stands.
    func requests(_ comparison: Comparison) -> (requests: [ComparedRequest], placeholders: Placeholders) {
        let bySelf = Dictionary(secrets.enumerated().map { ($1.placeholder, $0) }) { $1 }
        let all = Placeholders(bySelf.mapValues { _ in [] })
        var places: [String: Set<String>] = [:]
        let requests = exchanges.map { comparison.request($0, all) }
        for (index, exchange) in exchanges.enumerated() {
            var found: [String: [Place]] = [:]
            for (place, texts) in requests[index].texts {
                for text in texts { for (_, placeholder) in all.occurrences(in: text) { found[placeholder, default: []].append(place) } }
            }
            for (placeholder, standing) in found {
                guard let secret = bySelf[placeholder].map({ secrets[$0] }) else { continue }
                let taking = secret.isFromResponse ? [] : placesThatTakeText(secret, standing, in: index)
                places[placeholder, default: []].formUnion(taking.map(\.general))
            }
            for part in MessagePart.parts(of: exchange, at: 0, isResponse: true) {
                for (_, placeholder) in all.occurrences(in: part.bytes.text) { places[placeholder] = places[placeholder] ?? [] }
            }
        }
        return (requests, Placeholders(places))
    }

    /// - Parameter places: Where the placeholder stands in a request.
    private func placesThatTakeText(_ secret: Secret, _ places: [Place], in exchange: Int) -> [Place] {
        guard !secret.isMarked else { return places }
        let named = places.filter { names.label(of: $0.value(secret.text), inResponse: false) != nil }
        guard named.isEmpty else { return named }
        // Its name may be beside it or within the value, as in JSON in a text.
        var isNamed = false
        let reader = ValueReader { value in
            guard value.kind != .key, value.text.contains(secret.placeholder) else { return nil }
            var value = value
            value.text = secret.text
            isNamed = isNamed || names.label(of: value, inResponse: false) != nil
            return nil
        }
        for part in MessagePart.parts(of: exchanges[exchange], at: exchange, isResponse: false) { _ = part.edits(reader) }
        return isNamed ? places : []
    }

    /// Sentences about secrets that are replaced under their names alone, and also stand elsewhere.
    var clearPlaces: [String] {
        secrets.filter { $0.isCommon && $0.text.utf8.count >= 4 }.prefix(50).compactMap { secret in
            let text = Array(secret.text.utf8)
            for (index, exchange) in exchanges.enumerated() {
                for isResponse in [false, true] {
                    for part in MessagePart.parts(of: exchange, at: index, isResponse: isResponse) where part.bytes.firstOffset(of: text) != nil {
                        return "\(secret.placeholder) is too short or too common to be replaced everywhere. It also stands in \(part.name): "
                            + "\(exchange.summary)"
                    }
                }
            }
            return nil
        }
    }

    private mutating func setPlaceholders(_ parts: [MessagePart]) {
        let counts = Dictionary(secrets.map { ($0.label, 1) }) { $0 + $1 }
        var (last, taken, rest): ([String: Int], Set<String>, [Int]) = ([:], Set(indices.keys), Array(secrets.indices))
        while !rest.isEmpty {
            for index in rest {
                let label = secrets[index].label
                // With eight bytes at least, it is found as secrets are.
                let width = max(3, 7 - label.utf8.count, "\(2 * counts[label, default: 0])".utf8.count)
                repeat {
                    last[label, default: 0] += 1
                    secrets[index].setPlaceholder(last[label, default: 0], width: width)
                } while !taken.insert(secrets[index].placeholder).inserted
            }
            // A text that stands in the traffic is no placeholder.
            let search = TextSearch(rest.map { Array(secrets[$0].placeholder.utf8) })
            rest = Set(parts.flatMap { search.matches(in: $0.bytes).map { rest[$0.text] } }).sorted()
        }
        for index in secrets.indices where secrets[index].text.isJWT {
            let claims = reader(isResponse: secrets[index].isFromResponse) { _ in true }.newJWT(secrets[index].text) ?? secrets[index].text
            secrets[index].replacement = claims[...(claims.lastIndex(of: ".") ?? claims.startIndex)] + secrets[index].placeholder
        }
    }

    // MARK: - Replacing

    /// - Parameter partsOfCommonSecrets: The parts with a secret that is replaced only where it has its name.
    private mutating func replace(in parts: [MessagePart], _ partsOfCommonSecrets: Set<Int>) {
        let placeholders = secrets.filter(\.isFromResponse).map { Array($0.placeholder.utf8) }
        let (search, hasShortOnes) = (TextSearch(placeholders), placeholders.contains { $0.count < 8 })
        for (place, var part) in parts.enumerated() {
            // A large response is read by its values only if that is needed.
            let left: Set<Int>
            (part.bytes, left) = replaced(part, check, readingValues: !part.isResponse || partsOfCommonSecrets.contains(place))
            if !part.isResponse, hasShortOnes || !search.matches(in: part.bytes).isEmpty { requestsWithResponses.insert(part.exchange) }
            problems += left.sorted().map { index in
                "\(exchanges[part.exchange].summary) has \(secrets[index].placeholder) in \(part.name), in a notation that is not replaced. To write it otherwise: "
                    + part.cure
            }
            part.write(to: &exchanges[part.exchange])
        }
    }

    /// The bytes of a part with the placeholders of these secrets, and the secrets that still stand there: they are replaced where a value
    /// has a name of the list, as they are wherever else they stand, and then in other notations.
    private func replaced(
        _ part: MessagePart, _ check: SecretCheck, readingValues readsValues: Bool = true,
        _ isReplaced: @escaping (Secret) -> Bool = { _ in true }
    ) -> (bytes: [UInt8], left: Set<Int>) {
        guard !part.isBinary else { return (part.bytes, check.secrets(in: part.bytes).all) }
        let reader = reader(isResponse: part.isResponse, of: part.exchange, isReplaced)
        var bytes = readsValues ? part.bytes.applying(part.edits(reader)) : part.bytes
        let start = part.field == .url ? bytes.endOfAuthority : 0
        bytes = bytes.applying(
            everywhere.search.matches(in: bytes).compactMap { match in
                let secret = secrets[everywhere.secrets[match.text]]
                return match.range.lowerBound >= start && isReplaced(secret) ? (match.range, Array(secret.replacement.utf8)) : nil
            })
        var left = check.secrets(in: bytes).all
        guard !left.isEmpty else { return (bytes, []) }
        guard readsValues else { return replaced(part, check, isReplaced) }
        let spellings = left.flatMap { index in secrets[index].text.spellings.map { (text: Array($0.utf8), secret: index) } }
        bytes = bytes.applying(
            TextSearch(spellings.map(\.text)).matches(in: bytes).filter { $0.range.lowerBound >= start }.map { match in
                (match.range, Array(secrets[spellings[match.text].secret].replacement.utf8))
            })
        left = check.secrets(in: bytes).all
        return (bytes, left)
    }

    /// Replaces whole values that are secrets.
    private func reader(isResponse: Bool, of exchange: Int? = nil, _ isReplaced: @escaping (Secret) -> Bool) -> ValueReader {
        let marked = exchange.map { isResponse ? [] : originals[$0].markedSecrets } ?? []
        return ValueReader { value in
            guard value.kind != .key else { return nil }
            let (scheme, text) = value.text.splittingScheme
            guard let index = indices[text] else { return nil }
            let secret = secrets[index]
            let isClient = value.isClaim && ["azp", "aud", "client_id"].contains(value.name)
            guard !secret.isCommon || isClient || marked.contains(text) || names.label(of: value, inResponse: isResponse) != nil else {
                return nil
            }
            return isReplaced(secret) ? scheme + secret.replacement : nil
        }
    }
}

extension [UInt8] {
    /// The place behind the host and port of a URL.
    fileprivate var endOfAuthority: Int {
        guard let start = firstOffset(of: Array("://".utf8)) else { return 0 }
        return self[(start + 3)...].firstIndex { "/?#".utf8.contains($0) } ?? count
    }
}
