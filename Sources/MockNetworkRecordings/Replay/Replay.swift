import APIProvider
import APIProviderMocks
import Foundation

/// Chooses the entry of a file that answers each request.
struct Replay: Sendable {
    struct Entry: Sendable {
        let exchange: RecordedExchange
        /// The place in the file, such as `search.har: log.entries[3]`.
        let entryPath: String
        let shape: NormalizedRequest
        /// The headers that tell responses apart. Their names are lowercased.
        var significantHeaders: [String] = []
        /// The reason why it answers no request; `nil` if it can be read.
        var problem: String?
    }

    /// The reason why no entry answers.
    struct Failure: Error {
        /// One sentence, or several.
        let description: String
    }

    private struct Candidate {
        let index: Int
        let bindings: Bindings
        let similarity: Int
    }

    let placeholders: Placeholders
    let ignored: SecretNames
    /// The names under which a report shows no value.
    let hidden: SecretNames
    let isForAnyHost: Bool
    /// Whether the file is another program's, which has sent headers of its own.
    private let isFromOtherProgram: Bool
    /// In the order in which they were recorded.
    let entries: [Entry]
    private(set) var uses: [Int]
    private(set) var bindings = Bindings()

    init(
        _ file: RecordedFile, hiding hidden: SecretNames = SecretNames(), ignoring ignored: SecretNames = SecretNames(),
        forAnyHost isForAnyHost: Bool = false
    ) {
        (placeholders, self.hidden, self.ignored, self.isForAnyHost) = (file.placeholders, hidden, ignored, isForAnyHost)
        isFromOtherProgram = file.isFromOtherProgram
        var entries = file.entries.map { entry in
            Entry(
                exchange: entry.exchange, entryPath: entry.entryPath,
                shape: NormalizedRequest(entry.exchange, file.placeholders, ignoring: ignored, forAnyHost: isForAnyHost),
                problem: entry.problem)
        }
        for index in entries.indices { entries[index].significantHeaders = Self.significantHeaders(of: entries[index].exchange) }
        if file.isFromOtherProgram {
            // There, a header tells responses apart only where two entries differ in it.
            for index in entries.indices where !entries[index].significantHeaders.isEmpty {
                let shape = entries[index].shape
                let others = entries.filter {
                    $0.shape.method == shape.method && $0.shape.path == shape.path && $0.shape.query == shape.query
                }
                entries[index].significantHeaders.removeAll { name in
                    others.allSatisfy { $0.shape.value(of: name)?.bytes == shape.value(of: name)?.bytes }
                }
            }
        }
        self.entries = entries
        uses = Array(repeating: 0, count: entries.count)
    }

    private static func significantHeaders(of exchange: RecordedExchange) -> [String] {
        let varying = (exchange.response?.value(of: "Vary") ?? "").lowercased().split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
        let others: Set = ["", "*", "authorization", "cookie", "accept-encoding", "user-agent", "origin"]
        return ["range"] + varying.filter { !others.contains($0) }
    }

    // MARK: - Choosing an entry

    /// Chooses the entry that answers, and marks it as used.
    mutating func entry(for exchange: RecordedExchange) -> Result<Int, Failure> {
        let sent = NormalizedRequest(exchange, placeholders, ignoring: ignored, forAnyHost: isForAnyHost)
        var candidates: [Candidate] = []
        for index in entries.indices where entries[index].problem == nil {
            var attempt = bindings
            attempt.count = 0
            guard entries[index].shape.matches(sent, placeholders, &attempt),
                entries[index].hasSignificantHeaders(of: sent, placeholders, &attempt)
            else {
                continue
            }
            if let least = candidates.first?.bindings.count, attempt.count > least { continue }
            if let least = candidates.first?.bindings.count, attempt.count < least { candidates = [] }
            let similarity = entries[index].shape.similarity(to: sent, placeholders, &attempt, penalizesDifferences: !isFromOtherProgram)
            candidates.append(Candidate(index: index, bindings: attempt, similarity: similarity))
        }
        guard !candidates.isEmpty else { return .failure(Failure(description: report(of: exchange, sent))) }
        let unused = candidates.filter { uses[$0.index] == 0 }
        let most = candidates.map(\.similarity).max() ?? 0
        let chosen: Candidate
        if let first = unused.first(where: { $0.similarity == most }) {
            chosen = first
        } else if ["GET", "HEAD"].contains(exchange.method), let last = candidates.last(where: { $0.similarity == most }) {
            chosen = last
        } else if let first = unused.first {
            chosen = first
        } else {
            return .failure(Failure(description: usedUp(candidates.map(\.index))))
        }
        uses[chosen.index] += 1
        bindings = chosen.bindings
        return .success(chosen.index)
    }

    /// - Parameter indices: The entries of the request. What it sends itself may have a secret.
    private func usedUp(_ indices: [Int]) -> String {
        let (count, last) = (indices.count, entries[indices[indices.count - 1]])
        let times = count == 1 ? "once" : count == 2 ? "twice" : "\(count) times"
        return "\(last.exchange.requestSummary) was recorded \(times) (\(last.entryPath)), and was sent once more."
    }
}

// MARK: - Headers

extension Replay.Entry {
    fileprivate func hasSignificantHeaders(of sent: NormalizedRequest, _ placeholders: Placeholders, _ bindings: inout Bindings) -> Bool {
        for name in significantHeaders {
            switch (shape.value(of: name), sent.value(of: name)) {
            case (nil, nil): break
            case (let mine?, let other?): guard mine.matches(other, placeholders, &bindings) else { return false }
            default: return false
            }
        }
        return true
    }
}

extension NormalizedRequest {
    func value(of name: String) -> Pattern? { headers.first { $0.name == name }?.value }

    /// How many headers are the same. One that fits only because its placeholder has no text yet counts less. Placeholders get their texts.
    ///
    /// - Parameter penalizesDifferences: Whether a header that only one of them has, or that differs, makes them less alike.
    fileprivate func similarity(
        to sent: NormalizedRequest, _ placeholders: Placeholders, _ bindings: inout Bindings, penalizesDifferences: Bool
    ) -> Int {
        let difference = penalizesDifferences ? -1 : 0
        var similarity = 0
        let count = bindings.count
        for (name, value) in headers {
            guard let other = sent.value(of: name) else {
                similarity += difference
                continue
            }
            let bound = bindings.count
            var attempt = bindings
            let isMatch = value.matches(other, placeholders, &attempt)
            if isMatch { bindings = attempt }
            similarity += !isMatch ? difference : bindings.count > bound ? 1 : 2
        }
        bindings.count = count
        return similarity + difference * sent.headers.count { value(of: $0.name) == nil }
    }
}
