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

    /// The entries with equal requests, in the order of the file.
    private struct Queue {
        var numbers: [Int]
        var uses = 0

        var isUsedUp: Bool { uses >= numbers.count }
        /// The first unused entry, or else the last.
        var next: Int { numbers[min(uses, numbers.count - 1)] }
    }

    let file: RecordedFile
    private(set) var bindings: Bindings
    private var queues: [Queue] = []
    /// The queues whose requests have placeholders at the same places, by their other lines.
    private var index: [Set<String>: [Lines: [Int]]] = [:]

    init(_ file: RecordedFile) {
        (self.file, bindings) = (file, Bindings(file.placeholders))
        var known: [ComparedRequest: Int] = [:]
        for (number, entry) in file.entries.enumerated() {
            if let queue = known[entry.request] {
                queues[queue].numbers.append(number)
                continue
            }
            known[entry.request] = queues.count
            index[Set(entry.places), default: [:]][key(entry.request, Set(entry.places)), default: []].append(queues.count)
            queues.append(Queue(numbers: [number]))
        }
    }

    /// The lines of a request but those at these places.
    private func key(_ request: ComparedRequest, _ places: Set<String>) -> Lines {
        guard !places.isEmpty || file.comparison.isForAnyHost else { return request.lines }
        return Lines(request.lines.values.filter { !places.contains($0.key) && !(file.comparison.isForAnyHost && $0.key == "host") })
    }

    /// The entries that have answered no request.
    var unused: [RecordedFile.Entry] { queues.flatMap { $0.numbers.dropFirst($0.uses) }.sorted().map { file.entries[$0] } }

    /// The requests that differ from another only in the placeholders of secrets.
    var requestsToldApartByOrder: [String] {
        let groups = index.values.flatMap(\.values).map { group in group.map { file.entries[queues[$0].next] } }
        return groups.filter { Set($0.map(\.request.lines)).count > 1 }.map { $0[0].exchange.summary }.sorted()
    }

    // MARK: - Choosing

    /// An entry that may answer, and the texts that placeholders then have.
    struct Choice {
        let number: Int
        fileprivate let queue: Int
        fileprivate let bindings: Bindings
        /// How many placeholders get a text for the first time (but for those of cookies, which may be set at any moment), whether the host
        /// differs, whether the cookies do, and whether it is used up. Then the first unused or the last used entry. The least is the best.
        fileprivate let rank: (Int, Int, Int, Int, Int)
    }

    /// Chooses the entry that answers, and marks it as used.
    mutating func entry(for exchange: RecordedExchange) -> Result<Int, Failure> {
        choice(for: exchange).map { choice in
            queues[choice.queue].uses += 1
            bindings = choice.bindings
            return choice.number
        }
    }

    /// Chooses the entry that would answer now.
    func choice(for exchange: RecordedExchange) -> Result<Choice, Failure> {
        let request = file.comparison.request(exchange, file.placeholders)
        let found = index.flatMap { places, queues in queues[key(request, places)] ?? [] }
        guard let best = found.compactMap({ choice($0, request) }).min(by: { $0.rank < $1.rank }) else {
            return .failure(failure(of: exchange, request))
        }
        guard !queues[best.queue].isUsedUp || file.comparison.mayRepeat(exchange) else {
            let other = found.map { queues[$0] }.first { !$0.isUsedUp }
            return .failure(Failure(description: usedUp(queues[best.queue], other: other)))
        }
        return .success(best)
    }

    /// `nil` if the entries do not match, although all lines without placeholders do.
    private func choice(_ number: Int, _ request: ComparedRequest) -> Choice? {
        let (queue, entry) = (queues[number], file.entries[queues[number].next])
        var bindings = bindings
        guard entry.request.cookies.values.keys.allSatisfy({ entry.matches($0, request, &bindings) }) else { return nil }
        let count = bindings.texts.count
        guard entry.places.allSatisfy({ entry.matches($0, request, &bindings) }) else { return nil }
        let hasOtherHost = request["host"] != entry.request["host"]
        let hasOtherCookies = request.cookies.values.keys != entry.request.cookies.values.keys
        return Choice(
            number: queue.next, queue: number, bindings: bindings,
            rank: (
                bindings.texts.count - count, hasOtherHost ? 1 : 0, hasOtherCookies ? 1 : 0, queue.isUsedUp ? 1 : 0,
                queue.isUsedUp ? -queue.next : queue.next
            ))
    }

    private func usedUp(_ queue: Queue, other: Queue?) -> String {
        let entry = file.entries[queue.next]
        if let other = other.map({ file.entries[$0.next] }) {
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
