import APIProvider
import Foundation

extension Recording {
    /// The content of a file with what was recorded, without attempts that were retried. An entry whose response is as in the old file
    /// keeps its bytes. Entries stay where they were in the old file; new ones come last.
    ///
    /// - Parameter old: The content of the old file. Empty if there is none.
    func merged(_ traffic: [Traffic], into old: Data) throws -> Data {
        typealias Item = (index: Int, bytes: Data, entry: HAR.ReadEntry)
        func read(_ entries: [Data]) throws -> [(identity: HAR.ReadEntry.Identity, elements: [Item])] {
            try entries.enumerated().map { ($0, $1, try JSONDecoder().decode(HAR.ReadEntry.self, from: $1)) }
                .grouped { $0.2.identity(at: $0.0, in: self) }
        }
        let oldGroups = (try? read(HAR.slices(of: old))) ?? []
        // With other options, the old entries have too much or too little.
        let hasSameOptions = old.starts(with: Data(HAR.head(keeping: names).utf8))
        var placed: [(place: Int, order: Int, bytes: Data)] = []
        for (identity, news) in try read(traffic.map { try HAR.Entry($0, keeping: names).encoded() }) {
            let lastSuccess = news.lastIndex { !$0.entry.isRetried } ?? -1
            let entries = news.indices.filter { $0 > lastSuccess || !news[$0].entry.isRetried }.map { news[$0] }
            let olds = oldGroups.first { $0.identity == identity }?.elements ?? []
            for (number, new) in entries.enumerated() {
                let old = olds.dropFirst(number).first
                let isSame = hasSameOptions && old?.entry.hasSameResponse(as: new.entry) == true
                placed.append((old?.index ?? olds.last?.index ?? .max, new.index, isSame ? old?.bytes ?? new.bytes : new.bytes))
            }
        }
        placed.sort { ($0.place, $0.order) < ($1.place, $1.order) }
        return HAR.file(of: placed.map(\.bytes), keeping: names)
    }
}

extension HAR.ReadEntry {
    /// Whether an attempt with this outcome is usually followed by another.
    fileprivate var isRetried: Bool { [0, 408, 429, 500, 502, 503, 504].contains(recorded?.status ?? 0) }

    /// Whether a reader of both responses sees no difference. Times and other headers do not count.
    fileprivate func hasSameResponse(as other: HAR.ReadEntry) -> Bool {
        guard let (mine, others) = recorded.flatMap({ mine in other.recorded.map { (mine, $0) } }) else { return false }
        let headers = ["content-type", "location", "link"]
        return mine.status == others.status && mine._error == others._error
            && headers.allSatisfy { mine.value(of: $0) == others.value(of: $0) }
            && mine.content?.text == others.content?.text && mine.content?.encoding == others.content?.encoding
    }
}

extension HAR.Response {
    func value(of name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
}
