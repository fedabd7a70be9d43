import APIProvider
import APIProviderMocks
import Foundation

/// The response of an entry as the app gets it: with the texts that placeholders stand for in this replay, and times moved to now.
struct ReplayedResponse {
    let status: Int
    let headers: [RecordedExchange.Field]
    let body: [UInt8]

    /// - Parameter seconds: The time that has passed since the entry was made.
    init(_ response: RecordedExchange.Response, _ placeholders: Placeholders, _ bindings: Bindings, movedBy seconds: TimeInterval) {
        status = response.status
        headers = response.headers.map { field in
            let value = Array(field.value.utf8)
            let bytes = Self.replacing(value, LeafFinder.leaves(ofHeader: field.name, value), placeholders, bindings, seconds)
            return RecordedExchange.Field(
                name: field.name, value: String(decoding: bytes, as: UTF8.self).movedValue(of: field.name, by: seconds))
        }
        let type = response.value(of: "Content-Type") ?? ""
        body = Self.replacing(response.body, LeafFinder.leaves(ofBody: response.body, type: type), placeholders, bindings, seconds)
    }

    private static func replacing(
        _ bytes: [UInt8], _ leaves: @autoclosure () -> [Leaf], _ placeholders: Placeholders, _ bindings: Bindings, _ seconds: TimeInterval
    ) -> [UInt8] {
        let occurrences = placeholders.occurrences(in: bytes)
        guard !occurrences.isEmpty else { return bytes }
        // To find the leaves of a large body takes long.
        let leaves = occurrences.contains { bindings.values[$0.placeholder] != nil } || bytes.mayHaveExpiries ? leaves() : []
        let around = leaves.around(occurrences.map(\.range))
        var replacements: [(range: Range<Int>, text: [UInt8])] = []
        for ((range, name), around) in zip(occurrences, around) {
            if let value = bindings.values[name], Array(name.utf8) != value {
                let text = String(decoding: value, as: UTF8.self)
                if around?.kind == .number, (try? JSONTree(Data(value))).map({ if case .number = $0 { false } else { true } }) ?? true {
                    continue
                }
                replacements.append((range, Array((around?.text.escaped(text) ?? text).utf8)))
            } else if range.count > name.utf8.count, seconds != 0 {
                replacements.append((range, bytes[range].movingJWT(by: seconds)))
            }
        }
        for leaf in leaves.expiries(besides: around) where seconds != 0 {
            if let moved = leaf.text.string.moved(by: seconds) {
                replacements.append((leaf.text.range, Array(leaf.text.escaped(moved).utf8)))
            }
        }
        return bytes.replacing(replacements)
    }
}

extension [Leaf] {
    /// For each range, the innermost leaf that has it.
    func around(_ ranges: [Range<Int>]) -> [Leaf?] {
        // In their order where they begin at the same place.
        let sorted = indices.sorted { (self[$0].text.range.lowerBound, $0) < (self[$1].text.range.lowerBound, $1) }.map { self[$0] }
        return ranges.map { range in
            sorted.prefix(upToStart: range.lowerBound).last { $0.text.range.upperBound >= range.upperBound }
        }
    }

    /// Those that say when something ends, in the objects and forms of the others.
    func expiries(besides others: [Leaf?]) -> [Leaf] {
        let groups = Set(others.compactMap { $0?.group }).subtracting([0])
        return groups.isEmpty ? [] : filter { groups.contains($0.group) && $0.kind != .key && $0.name.isExpiry }
    }

    /// Those that begin at or before `place`; these are sorted.
    fileprivate func prefix(upToStart place: Int) -> ArraySlice<Leaf> {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].text.range.lowerBound > place { high = middle } else { low = middle + 1 }
        }
        return self[..<low]
    }
}

// MARK: - Times

extension [UInt8] {
    /// Whether a name in it may be one that says when something ends.
    var mayHaveExpiries: Bool { ["xp", "XP", "ntil", "NTIL"].contains { firstOffset(of: Array($0.utf8)) != nil } }
}

extension Collection<UInt8> {
    /// The JWT with its times moved.
    fileprivate func movingJWT(by seconds: TimeInterval) -> [UInt8] {
        let parts = split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 3, let claims = Data(base64URL: parts[1]) else { return Array(self) }
        let bytes = Array(claims)
        let times = LeafFinder.leaves(ofBody: bytes, type: "application/json").filter {
            $0.kind == .number && ["exp", "iat", "nbf"].contains($0.name)
        }
        let moved = bytes.replacing(
            times.compactMap { leaf in leaf.text.string.moved(by: seconds).map { (leaf.text.range, Array($0.utf8)) } })
        return Array("\(parts[0]).\(Data(moved).base64URL).\(parts[2])".utf8)
    }
}

extension String {
    /// Whether a value of this name says when something ends.
    var isExpiry: Bool {
        guard Array(utf8).mayHaveExpiries else { return false }
        let words = SecretNames.words(of: self)
        return (1...2).contains { words.count >= $0 && Self.expiries.contains(words.suffix($0).joined()) }
    }

    private static let expiries: Set = [
        "expires", "expiry", "expiration", "exp", "expiresat", "expireson", "expirydate", "expirationdate", "validuntil",
    ]

    /// The time that it says; `nil` if it says none.
    var time: Date? {
        if let seconds = Double(self) {
            let digits = wholeDigits.utf8.count
            return [10, 13].contains(digits) ? Date(timeIntervalSince1970: digits >= 13 ? seconds / 1000 : seconds) : nil
        }
        return Date(iso8601: self) ?? Date(httpDate: self, now: Date())
    }

    /// The time later, in the same form; `nil` if it is no time: seconds or milliseconds since 1970, ISO 8601, or an HTTP date.
    func moved(by seconds: TimeInterval) -> String? {
        let digits = wholeDigits
        let fraction = dropFirst(digits.count)
        let isNumber = fraction.isEmpty || fraction.first == "." && fraction.dropFirst().allSatisfy(\.isNumber)
        if isNumber, let number = Int64(digits), [10, 13].contains(digits.utf8.count), abs(seconds) < 1e11 {
            return "\(number + Int64(digits.utf8.count >= 13 ? seconds * 1000 : seconds))\(fraction)"
        }
        let formatter = ISO8601DateFormatter()
        // Foundation on Linux ends the process if it is `nil` (Swift 6.3.1), as for an offset of more than 18 hours.
        formatter.timeZone = TimeZone(secondsFromGMT: offsetFromGMT) ?? TimeZone(secondsFromGMT: 0)
        for options: ISO8601DateFormatter.Options in [[.withInternetDateTime], [.withInternetDateTime, .withFractionalSeconds]] {
            formatter.formatOptions = options
            if let date = formatter.date(from: self) { return formatter.string(from: date + seconds) }
        }
        return Date(httpDate: self, now: Date()).map { ($0 + seconds).httpDate }
    }

    /// The digits in front of the point, if it is a number.
    private var wholeDigits: String { String(prefix(while: \.isNumber)) }

    /// The seconds that the end of a time of ISO 8601 says, such as `+02:00`.
    private var offsetFromGMT: Int {
        let end = suffix(6).split(separator: ":")
        guard end.count == 2, let hours = Int(end[0]), let minutes = Int(end[1]), "+-".contains(end[0].prefix(1)) else { return 0 }
        return (abs(hours) * 60 + minutes) * (end[0].hasPrefix("-") ? -60 : 60)
    }

    /// The value of a header in a replay that begins `seconds` later than the recording.
    fileprivate func movedValue(of header: String, by seconds: TimeInterval) -> String {
        switch header.lowercased() {
        case "retry-after": return "0"
        case "date", "expires": return Date(httpDate: self, now: Date()).map { ($0 + seconds).httpDate } ?? self
        case "set-cookie":
            return setCookieFields.map { field in
                field.split(separator: ";", omittingEmptySubsequences: false).map { attribute in
                    let halves = attribute.split(separator: "=", maxSplits: 1)
                    guard halves.count == 2, halves[0].trimmingCharacters(in: .whitespaces).lowercased() == "expires",
                        let date = Date(httpDate: halves[1].replacingOccurrences(of: "-", with: " "), now: Date())
                    else { return String(attribute) }
                    return "\(halves[0])=\((date + seconds).httpDate)"
                }.joined(separator: ";")
            }.joined(separator: ", ")
        default: return self
        }
    }
}

extension Date {
    /// RFC 9110, section 5.6.7.
    var httpDate: String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: self)
    }
}
