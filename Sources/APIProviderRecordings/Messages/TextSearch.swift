import APIProvider

/// Finds many texts, each with eight bytes or more, in one pass.
///
/// Reads the eight bytes at each place as one number. Calls no function in the loop, because tests run without the optimizer.
struct TextSearch: Sendable {
    private let texts: [[UInt8]]
    /// The texts with these eight bytes, and the offset there.
    private var owners: [UInt64: [(text: Int, offset: Int)]] = [:]
    /// A bit for each hash of 16 bits: whether a text may contain eight bytes with this hash.
    private var isOwned = [UInt64](repeating: 0, count: 1 << 10)

    /// Ignores texts of fewer than eight bytes.
    init(_ texts: [[UInt8]]) {
        self.texts = texts
        for (index, text) in texts.enumerated() where text.count >= 8 {
            // A service's keys begin alike, and Base64 ends alike.
            let windows = [text.count - 8, (text.count - 8) / 2, 0].map { offset in
                (window: text[offset..<offset + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }, offset: offset)
            }
            guard let rarest = windows.min(by: { owners[$0.window]?.count ?? 0 < owners[$1.window]?.count ?? 0 }) else { continue }
            owners[rarest.window, default: []].append((index, rarest.offset))
            let hash = Self.hash(rarest.window)
            isOwned[hash >> 6] |= 1 << UInt64(hash & 63)
        }
    }

    private static func hash(_ window: UInt64) -> Int { Int(truncatingIfNeeded: (window &* 0x9E37_79B9_7F4A_7C15) &>> 48) }

    /// The texts' places and indices. Of overlapping ones, finds the first and longest. Does not find a number in a longer one.
    func matches(in bytes: [UInt8]) -> [(range: Range<Int>, text: Int)] {
        guard !owners.isEmpty else { return [] }
        var found: [(range: Range<Int>, text: Int)] = []
        for (place, window) in candidates(in: bytes) {
            for (index, offset) in owners[window] ?? [] {
                let text = texts[index], start = place - offset
                guard start >= 0, text.count <= bytes.count - start, bytes[start..<start + text.count].elementsEqual(text) else { continue }
                let end = start + text.count
                let isInNumber = start > 0 && bytes[start - 1].isDigit || end < bytes.count && bytes[end].isDigit
                if !isInNumber || !text.allSatisfy(\.isDigit) { found.append((start..<end, index)) }
            }
        }
        var end = 0
        return found.sorted { ($0.range.lowerBound, $1.range.count) < ($1.range.lowerBound, $0.range.count) }.filter { match in
            defer { end = Swift.max(end, match.range.upperBound) }
            return match.range.lowerBound >= end
        }
    }

    /// The places of eight bytes that may belong to a text, and these bytes.
    private func candidates(in bytes: [UInt8]) -> [(place: Int, window: UInt64)] {
        bytes.withUnsafeBufferPointer { buffer in
            isOwned.withUnsafeBufferPointer { table in
                guard let bytes = buffer.baseAddress, let isOwned = table.baseAddress else { return [] }
                var (candidates, window, place): ([(place: Int, window: UInt64)], UInt64, Int) = ([], 0, 0)
                let count = buffer.count
                while place < count {
                    window = window &<< 8 | UInt64(bytes[place])
                    place &+= 1
                    let hash = Int(truncatingIfNeeded: (window &* 0x9E37_79B9_7F4A_7C15) &>> 48)
                    if isOwned[hash &>> 6] &>> UInt64(truncatingIfNeeded: hash) & 1 == 1, place >= 8 {
                        candidates.append((place - 8, window))
                    }
                }
                return candidates
            }
        }
    }
}
