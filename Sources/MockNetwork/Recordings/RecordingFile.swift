import APIProvider
import Foundation
import MiniRx

/// A HAR file that grows, and is complete at every moment because each change replaces it.
///
/// An entry is encoded once. Entries that arrive during a write go into the next one together.
final class RecordingFile: Sendable {
    private struct Content {
        var lastNumber = 0
        /// In the order in which the requests began.
        var entries: [(number: Int, bytes: Data)] = []
    }

    private struct Written {
        var count = 0
        var hasFailed = false
    }

    private let url: URL
    private let onFailure: @Sendable (any Error) -> Void
    private let state = Locked(Content())
    private let written = Locked(Written())

    init(_ url: URL, onFailure: @escaping @Sendable (any Error) -> Void) {
        self.url = url
        self.onFailure = onFailure
    }

    /// Returns the position of an entry among the others.
    func makeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Adds `entry`, and returns when it is in the file. Reports the first failure.
    func add(_ entry: HAR.Entry, number: Int) {
        do {
            try write(containing: insert(Self.encoded(entry), number: number))
        } catch {
            let isFirst = written.withLock { !exchange(&$0.hasFailed, with: true) }
            if isFirst { onFailure(error) }
        }
    }

    private func insert(_ bytes: Data, number: Int) -> Int {
        state.withLock { state in
            let place = state.entries.lastIndex { $0.number < number }.map { $0 + 1 } ?? 0
            state.entries.insert((number, bytes), at: place)
            return state.entries.count
        }
    }

    private func write(containing count: Int) throws {
        try written.withLock { written in
            guard written.count < count else { return }
            let entries = state.withLock(\.entries)
            // It may still hold secrets, so only its owner may read it.
            try PartialFile.replace(url, with: Self.file(of: entries.map(\.bytes)), mode: 0o600)
            written.count = entries.count
        }
    }

    static func encoded(_ entry: HAR.Entry) throws -> Data {
        let encoder = JSONEncoder.sortingKeys
        encoder.outputFormatting.formUnion([.prettyPrinted, .withoutEscapingSlashes])
        return try encoder.encode(entry)
    }

    /// The content of a file with these encoded entries.
    static func file(of entries: [Data]) -> Data {
        var data = Data(#"{"log":{"version":"1.2","creator":{"name":"MockNetwork","version":"1.0"},"entries":["#.utf8)
        for (index, entry) in entries.enumerated() {
            data += Data((index == 0 ? "\n" : ",\n").utf8)
            data += entry
        }
        return data + Data("\n]}}\n".utf8)
    }
}
