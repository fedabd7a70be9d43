import APIProvider
import APIProviderMocks
import Foundation

/// Chooses the entry of a recording that answers each request.
struct Replay: Sendable {
    /// The reason why no entry answers.
    struct Failure: Error {
        let description: String
        /// Whether it may help to record the test again.
        var isCuredByRecording = true
    }

    let file: RecordedFile
    /// How many requests each entry has answered.
    private(set) var uses: [Int]
    private(set) var bindings = Bindings()
    /// The entries that have placeholders at the same places, by their other lines.
    private var index: [Set<String>: [Lines: [Int]]] = [:]

    init(_ file: RecordedFile) {
        self.file = file
        uses = Array(repeating: 0, count: file.entries.count)
        for (number, entry) in file.entries.enumerated() {
            let places = Set(entry.patterns.map(\.place))
            index[places, default: [:]][key(entry.request, places), default: []].append(number)
        }
    }

    /// The lines of a request but those at these places.
    private func key(_ request: ComparedRequest, _ places: Set<String>) -> Lines {
        guard !places.isEmpty || file.comparison.isForAnyHost else { return request.lines }
        return Lines(request.lines.values.filter { !places.contains($0.key) && !(file.comparison.isForAnyHost && $0.key == "host") })
    }

    /// The requests that differ from another only in the placeholders of secrets.
    var requestsToldApartByOrder: [String] {
        index.values.flatMap { group in
            group.values.compactMap { numbers in
                let first = file.entries[numbers[0]]
                return numbers.contains { file.entries[$0].request.lines != first.request.lines } ? first.exchange.summary : nil
            }
        }.sorted()
    }

    // MARK: - Choosing

    private struct Candidate {
        let number: Int
        let attempt: Attempt
        /// How many placeholders get a text for the first time (but for those of cookies, which may be set at any moment), whether the host
        /// differs, and whether the cookies do. The least is the best.
        let rank: (Int, Int, Int)
    }

    /// Chooses the entry that answers, and marks it as used.
    mutating func entry(for exchange: RecordedExchange) -> Result<Int, Failure> {
        let request = file.comparison.request(exchange, file.placeholders)
        let groups = index.compactMap { places, entries in entries[key(request, places)] }
        // The first that is unused or, if there is a better one that is used, the last of those.
        var best: Candidate?
        for isUsed in [false, true] where best.map({ $0.rank > (0, 0, 0) }) != false {
            for numbers in groups {
                for number in isUsed ? numbers.reversed() : numbers where (uses[number] > 0) == isUsed {
                    guard let candidate = candidate(number, request) else { continue }
                    let isEarlier = best.map { !isUsed && candidate.rank == $0.rank && number < $0.number } == true
                    if best.map({ candidate.rank < $0.rank }) != false || isEarlier { best = candidate }
                    if candidate.rank == (0, 0, 0) { break }
                }
            }
        }
        guard let best else { return .failure(failure(of: exchange, request)) }
        if uses[best.number] > 0, !file.comparison.mayRepeat(exchange) {
            let other = groups.joined().first { uses[$0] == 0 }
            return .failure(Failure(description: usedUp(best.number, other: other)))
        }
        uses[best.number] += 1
        bindings.take(best.attempt)
        return .success(best.number)
    }

    /// `nil` if the entry does not match, although all lines without placeholders do.
    private func candidate(_ number: Int, _ request: ComparedRequest) -> Candidate? {
        let entry = file.entries[number]
        var attempt = Attempt(bindings, file.placeholders)
        guard entry.request.cookies.keys.allSatisfy({ entry.matches(cookie: $0, request, &attempt) }) else { return nil }
        let count = attempt.newTexts.count
        guard entry.patterns.allSatisfy({ entry.matches($0, request, &attempt) }) else { return nil }
        let hasOtherHost = request.lines.values["host"] != entry.request.lines.values["host"]
        let hasOtherCookies = request.cookies.keys != entry.request.cookies.keys
        return Candidate(
            number: number, attempt: attempt, rank: (attempt.newTexts.count - count, hasOtherHost ? 1 : 0, hasOtherCookies ? 1 : 0))
    }

    private func usedUp(_ number: Int, other: Int?) -> String {
        let entry = file.entries[number]
        if let other = other.map({ file.entries[$0] }) {
            return
                "\(entry.exchange.summary) was recorded with several secrets (\(entry.path) and \(other.path)), which have one text now, or "
                + "the wrong one."
        }
        let count = file.entries.count { $0.request.lines == entry.request.lines }
        let times = count == 1 ? "once" : count == 2 ? "twice" : "\(count) times"
        return
            "\(entry.exchange.summary) was recorded \(times) (\(entry.path)), and was sent once more. If it changes nothing on the server, "
            + "add repeating: [\"\(URLParts(entry.exchange.url).path)\"]."
    }
}
