import APIProvider
import Foundation
import MockNetwork

/// Chooses the entry of a recording that answers each request.
struct Replay: Sendable {
    /// An entry of the file, as requests are compared with it.
    struct Entry: Sendable {
        let exchange: RecordedExchange
        /// Such as `search.har: log.entries[3]`.
        let path: String
        /// The reason why it cannot answer; `nil` if it can.
        let problem: String?
        let request: ComparedRequest
        fileprivate(set) var group = Group()
        /// The lines with placeholders that match other texts. Those that take a text come first.
        fileprivate(set) var patterns: [(place: Place, values: [Pattern?])] = []
        fileprivate(set) var cookiePatterns: [String: Pattern] = [:]
    }

    /// What entries have in common that are looked up alike.
    struct Group: Hashable, Sendable {
        /// The lines with placeholders that match other texts.
        var places: Set<Place> = []
        /// The headers that count beside those of each entry or, in the file of another program, alone.
        var headers: Set<String> = []
    }

    /// The reason why no entry answers.
    struct Failure: Error {
        let description: String
        /// Whether it may help to record the test again.
        var isCuredByRecording = true
    }

    let comparison: Comparison
    let placeholders: Placeholders
    /// In the order in which they were recorded.
    private(set) var entries: [Entry]
    private(set) var uses: [Int]
    private(set) var bindings = Bindings()
    private let isFromOtherProgram: Bool
    /// The entries of each group by their other lines: those that have answered no request, and those that have.
    private var index: [Group: [Lines: (unused: [Int], used: [Int])]] = [:]

    init(_ file: RecordedFile, _ comparison: Comparison) {
        (self.comparison, placeholders, isFromOtherProgram) = (comparison, file.placeholders, file.isFromOtherProgram)
        entries = file.entries.map { entry in
            Entry(exchange: entry.exchange, path: entry.path, problem: entry.problem, request: entry.request)
        }
        uses = Array(repeating: 0, count: entries.count)
        if isFromOtherProgram { keepTellingHeaders() }
        for number in entries.indices { prepare(number) }
    }

    private mutating func prepare(_ number: Int) {
        if !isFromOtherProgram { entries[number].group.headers = Comparison.varyingHeaders(of: entries[number].exchange.response) }
        let entry = entries[number]
        var patterns: [(place: Place, values: [Pattern?])] = []
        for (place, values) in entry.request.lines.values where !place.isHeader || compares(place, entry.group) {
            let general = place.general
            let found = values.map { value in value.text.flatMap { Pattern($0, at: general, placeholders) } }
            if found.contains(where: { $0 != nil }) { patterns.append((place, found)) }
        }
        func isFixed(_ pattern: (place: Place, values: [Pattern?])) -> Int { pattern.values.contains { $0?.isFree == true } ? 0 : 1 }
        entries[number].patterns = patterns.sorted { (isFixed($0), $0.place) < (isFixed($1), $1.place) }
        entries[number].group.places = Set(patterns.map(\.place))
        for (name, text) in entry.request.cookies { entries[number].cookiePatterns[name] = Pattern(text, at: "cookie \(name)", placeholders) }
        let group = entries[number].group
        index[group, default: [:]][key(entry.request.lines, group), default: ([], [])].unused.append(number)
    }

    /// In the file of another program, which has sent headers of its own, a header counts if two entries of the same request differ in it.
    private mutating func keepTellingHeaders() {
        let numbersOfSame = Dictionary(grouping: entries.indices) { number in
            var lines = entries[number].request.lines
            lines.removeAll(where: \.isHeader)
            return lines
        }
        for numbers in numbersOfSame.values {
            let all = numbers.map { entries[$0].request.lines.values.filter { $0.key.isHeader } }
            let telling = Set(all.flatMap(\.keys)).filter { place in all.contains { $0[place] != all[0][place] } }
            for number in numbers { entries[number].group.headers = Comparison.conditions.union(telling.map(\.headerName)) }
        }
    }

    /// The lines of a request by which the entries of a group are looked up.
    private func key(_ lines: Lines, _ group: Group) -> Lines {
        var lines = lines
        lines.removeAll { place in
            group.places.contains(place) || comparison.isForAnyHost && place.text == "host" || place.isHeader && !compares(place, group)
        }
        return lines
    }

    /// The lines that an entry compares.
    func comparedLines(_ lines: Lines, _ entry: Entry) -> Lines { key(lines, Group(headers: entry.group.headers)) }

    private func compares(_ place: Place, _ group: Group) -> Bool {
        group.headers.contains(place.headerName) || !isFromOtherProgram && comparison.stores(header: place.headerName)
    }

    /// The requests that differ from another only in the placeholders of secrets.
    var requestsToldApartByOrder: [String] {
        index.values.flatMap { group in
            group.values.compactMap { numbers in
                let first = entries[numbers.unused[0]]
                return numbers.unused.contains { entries[$0].request.lines != first.request.lines } ? first.exchange.summary : nil
            }
        }.sorted()
    }

    // MARK: - Choosing

    private struct Candidate {
        let number: Int
        let attempt: Attempt
        /// How many placeholders get a text for the first time, but for those of cookies, which may be set at any moment.
        let newTextCount: Int
        let hasOtherHost: Bool
        let hasOtherCookies: Bool

        /// The least is the best.
        var rank: (Int, Int, Int) { (newTextCount, hasOtherHost ? 1 : 0, hasOtherCookies ? 1 : 0) }
    }

    /// Chooses the entry that answers, and marks it as used.
    mutating func entry(for exchange: RecordedExchange) -> Result<Int, Failure> {
        let request = comparison.request(exchange, placeholders)
        let keys = index.keys.map { (group: $0, key: key(request.lines, $0)) }
        var (best, isUsed): (Candidate?, Bool) = (nil, false)
        // The first that is unused or, if there is a better one that is used, the last of those.
        for isLate in [false, true] where best.map({ $0.rank > (0, 0, 0) }) != false {
            for (group, key) in keys {
                guard let found = index[group]?[key] else { continue }
                for number in isLate ? found.used.reversed() : found.unused {
                    guard let candidate = candidate(number, request) else { continue }
                    let isEarlier = best.map { !isLate && candidate.rank == $0.rank && number < $0.number } == true
                    if best.map({ candidate.rank < $0.rank }) != false || isEarlier { (best, isUsed) = (candidate, isLate) }
                    if candidate.rank == (0, 0, 0) { break }
                }
            }
        }
        guard let best else { return .failure(failure(of: exchange, request)) }
        guard !isUsed || comparison.mayRepeat(exchange) else { return .failure(Failure(description: usedUp(best.number))) }
        uses[best.number] += 1
        bindings.take(best.attempt)
        if !isUsed, let (group, key) = keys.first(where: { $0.group == entries[best.number].group }) {
            index[group]?[key]?.unused.removeAll { $0 == best.number }
            index[group]?[key]?.used.append(best.number)
        }
        return .success(best.number)
    }

    /// `nil` if the entry does not match, although all lines without placeholders do.
    private func candidate(_ number: Int, _ request: ComparedRequest) -> Candidate? {
        let (entry, host) = (entries[number], Place("host"))
        var attempt = Attempt(bindings, placeholders)
        guard entry.request.cookies.keys.allSatisfy({ entry.matches(cookie: $0, request, &attempt) }) else { return nil }
        let count = attempt.newTexts.count
        guard entry.patterns.allSatisfy({ entry.matches($0, request, &attempt) }) else { return nil }
        return Candidate(
            number: number, attempt: attempt, newTextCount: attempt.newTexts.count - count,
            hasOtherHost: request.lines.values[host] != entry.request.lines.values[host],
            hasOtherCookies: request.cookies.keys != entry.request.cookies.keys)
    }

    private func usedUp(_ number: Int) -> String {
        let entry = entries[number]
        let others = index[entry.group]?[key(entry.request.lines, entry.group)]?.unused ?? []
        if let other = others.first {
            return "\(entry.exchange.summary) was recorded with several secrets (\(entry.path) and \(entries[other].path)), which have one text "
                + "now, or the wrong one."
        }
        let count = entries.count { $0.request.lines == entry.request.lines }
        let times = count == 1 ? "once" : count == 2 ? "twice" : "\(count) times"
        return "\(entry.exchange.summary) was recorded \(times) (\(entry.path)), and was sent once more. If it changes nothing on the server, "
            + "add repeating: [\"\(URLParts(entry.exchange.url).path)\"]."
    }
}

extension Replay.Entry {
    func matches(_ pattern: (place: Place, values: [Pattern?]), _ sent: ComparedRequest, _ attempt: inout Attempt) -> Bool {
        let (mine, sent) = (request.lines.values[pattern.place] ?? [], sent.lines.values[pattern.place] ?? [])
        guard mine.count == sent.count else { return false }
        for ((value, other), pattern) in zip(zip(mine, sent), pattern.values) {
            let isMatch = pattern.map { pattern in other.text.map { pattern.matches($0, &attempt) } ?? false } ?? (value == other)
            guard isMatch else { return false }
        }
        return true
    }

    /// A cookie that only one side has is no mismatch, because the moment at which it is set is a race.
    func matches(cookie name: String, _ sent: ComparedRequest, _ attempt: inout Attempt) -> Bool {
        guard let sent = sent.cookies[name], let mine = request.cookies[name] else { return true }
        return cookiePatterns[name]?.matches(sent, &attempt) ?? mine.utf8.elementsEqual(sent.utf8)
    }
}

extension Place {
    var isHeader: Bool { text.hasPrefix("header ") }

    /// The name of its header, without the parts of a credential.
    var headerName: String { String(text.dropFirst("header ".count).prefix { $0 != "." }) }
}
