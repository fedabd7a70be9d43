import APIProviderMocks
import Foundation

/// Chooses a file's entry for each request.
struct Replay: Sendable {
    /// The reason why no entry answers.
    struct Failure: Error {
        let description: String
        /// Whether recording the test again may help.
        var isCuredByRecording = true
    }

    /// The entries with equal requests, in the file's order.
    private struct Queue {
        var numbers: [Int]
        var uses = 0

        var isUsedUp: Bool { uses >= numbers.count }
        /// The first unused entry, or else the last.
        var next: Int { numbers[min(uses, numbers.count - 1)] }
    }

    /// In the recorded order.
    let entries: [Entry]
    let placeholders: Placeholders
    let options: RecordingOptions
    private(set) var bindings: Bindings
    private var queues: [Queue] = []
    /// The queues by the places of their holes, and by their other lines.
    private var index: [Set<String>: [Lines: [Int]]] = [:]

    init(_ file: HARFile, _ options: RecordingOptions) {
        let exchanges = file.entries.map(\.exchange)
        if let placeholders = file.placeholders {
            self.init(file.entries, placeholders, options.varying(with: exchanges))
        } else {
            // By time, as the format says, and in the file's order where times are equal.
            var entries = file.entries.enumerated().sorted {
                ($0.element.exchange.started, $0.offset) < ($1.element.exchange.started, $1.offset)
            }
            .map(\.element)
            for index in entries.indices { entries[index].exchange.order = (2 * index, 2 * index + 1) }
            let options = options.forOtherProgram(exchanges)
            let replacer = SecretReplacer(entries.map(\.exchange), options)
            for index in entries.indices { entries[index].exchange = replacer.exchanges[index] }
            self.init(entries, replacer.placeholders, options)
            bindings = Bindings(placeholders, recorded: Dictionary(replacer.secrets.map { ($0.placeholder, $0.text) }) { $1 })
        }
    }

    private init(_ entries: [HARFile.Entry], _ placeholders: Placeholders, _ options: RecordingOptions) {
        self.entries = entries.map { Entry($0, options, placeholders) }
        (self.placeholders, self.options, bindings) = (placeholders, options, Bindings(placeholders))
        var known: [Lines: Int] = [:]
        for (number, entry) in self.entries.enumerated() {
            if let queue = known[entry.request] {
                queues[queue].numbers.append(number)
                continue
            }
            known[entry.request] = queues.count
            index[Set(entry.holes), default: [:]][key(entry.request, Set(entry.holes)), default: []].append(queues.count)
            queues.append(Queue(numbers: [number]))
        }
    }

    /// The lines without cookies, conditions, holes and an ignored host.
    private func key(_ request: Lines, _ holes: Set<String>) -> Lines {
        let others = request.withoutCookies.withoutConditions
        return Lines(others.values.filter { !holes.contains($0.key) && !(options.isForAnyHost && $0.key == "host") })
    }

    /// The entries without a request so far.
    var unused: [Entry] { queues.flatMap { $0.numbers.dropFirst($0.uses) }.sorted().map { entries[$0] } }

    // MARK: - Choosing

    /// An entry for a request, and the placeholders' texts after that request.
    struct Choice {
        let number: Int
        fileprivate let queue: Int
        fileprivate let bindings: Bindings
        /// The least is the best: the number of placeholders with a first text (but for cookies, which may be set at any moment), another
        /// host, other conditions, other cookies or texts, a used entry, and then the first unused or the last used entry.
        fileprivate let rank: (Int, Int, Int, Int, Int, Int)
    }

    /// Chooses the entry for a request, and marks the entry as used.
    mutating func entry(for exchange: RecordedExchange) -> Result<Int, Failure> {
        choice(for: exchange).map { choice in
            queues[choice.queue].uses += 1
            bindings = choice.bindings
            bindings.show(entries[choice.number].exchange)
            return choice.number
        }
    }

    /// Chooses the entry for a request.
    func choice(for exchange: RecordedExchange) -> Result<Choice, Failure> {
        let request = options.request(exchange, placeholders)
        let found = index.flatMap { holes, queues in queues[key(request, holes)] ?? [] }
        guard let best = found.compactMap({ choice($0, request) }).min(by: { $0.rank < $1.rank }) else {
            return .failure(failure(of: exchange, request))
        }
        guard !queues[best.queue].isUsedUp || options.mayRepeat(exchange) else {
            let other = found.map { queues[$0] }.first { !$0.isUsedUp }
            return .failure(Failure(description: usedUp(queues[best.queue], other: other)))
        }
        return .success(best)
    }

    /// `nil` if a hole, a cookie or a condition does not match.
    private func choice(_ number: Int, _ request: Lines) -> Choice? {
        let (queue, entry) = (queues[number], entries[queues[number].next])
        var bindings = bindings
        let cookies = entry.request.values.keys.filter(\.isCookie)
        guard cookies.allSatisfy({ entry.matches($0, request, &bindings) }) else { return nil }
        let count = bindings.texts.count
        guard entry.holes.allSatisfy({ entry.matches($0, request, &bindings) }) else { return nil }
        let hasOtherConditions = request.conditions != entry.conditions
        guard !hasOtherConditions || !entry.comparesConditions else { return nil }
        let hasOtherHost = request.values["host"] != entry.request.values["host"]
        let hasOtherCookies = Set(cookies) != Set(request.values.keys.filter(\.isCookie))
        return Choice(
            number: queue.next, queue: number, bindings: bindings,
            rank: (
                bindings.texts.count - count, hasOtherHost ? 1 : 0, hasOtherConditions ? 1 : 0,
                hasOtherCookies ? .max : bindings.otherCount, queue.isUsedUp ? 1 : 0, queue.isUsedUp ? -queue.next : queue.next
            ))
    }

    private func usedUp(_ queue: Queue, other: Queue?) -> String {
        let entry = entries[queue.next]
        if let other = other.map({ entries[$0.next] }) {
            return
                "\(entry.exchange.summary) was recorded with several secrets (\(entry.path) and \(other.path)), which have one text now, or "
                + "the wrong one."
        }
        let count = entries.count { $0.request.withoutCookies == entry.request.withoutCookies }
        let times = count == 1 ? "once" : count == 2 ? "twice" : "\(count) times"
        return
            "\(entry.exchange.summary) was recorded \(times) (\(entry.path)), and was sent once more. If it changes nothing on the server, "
            + "add repeating: [\"\(URLParts(entry.exchange.url).path)\"]."
    }
}

extension Lines {
    fileprivate var withoutCookies: Lines { Lines(values.filter { !$0.key.isCookie }) }

    /// The conditions of a request, such as `If-None-Match`.
    var conditions: Lines { Lines(values.filter { RecordingOptions.conditionPlaces.contains($0.key) }) }

    var withoutConditions: Lines { Lines(values.filter { !RecordingOptions.conditionPlaces.contains($0.key) }) }
}
