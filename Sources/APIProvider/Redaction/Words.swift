/// A list of words, as a tree of their letters. Case makes no difference.
struct Words {
    /// For each node and letter the node that it leads to; 0, the root, for none.
    private var next = [Int16](repeating: 0, count: 26)
    private var isEnd = [false]

    init(_ lines: StaticString...) {
        for word in lines.flatMap({ $0.description.split(separator: " ") }) {
            let end = word.utf8.reduce(0) { node, byte in
                let edge = node * 26 + Int(byte - UInt8(ascii: "a"))
                if next[edge] == 0 {
                    next[edge] = Int16(isEnd.count)
                    next += [Int16](repeating: 0, count: 26)
                    isEnd.append(false)
                }
                return Int(next[edge])
            }
            isEnd[end] = true
        }
    }

    private func node(after node: Int, _ byte: UInt8) -> Int {
        byte.isLetter ? Int(next[node * 26 + Int(byte.lowercased - UInt8(ascii: "a"))]) : 0
    }

    func contains(_ word: ArraySlice<UInt8>) -> Bool {
        var node = 0
        for byte in word {
            node = self.node(after: node, byte)
            if node == 0 { return false }
        }
        return isEnd[node]
    }

    /// The word that ends last; of two that end together, the longer.
    func lastMatch(in letters: [UInt8]) -> Range<Int>? {
        var match: Range<Int>?
        for start in letters.indices {
            var (node, end) = (0, start)
            while end < letters.count {
                node = self.node(after: node, letters[end])
                if node == 0 { break }
                end += 1
                if isEnd[node], end > match?.upperBound ?? 0 { match = start..<end }
            }
        }
        return match
    }

    func isEnding(of word: ArraySlice<UInt8>) -> Bool { word.indices.contains { contains(word[$0...]) } }
}
