extension SecretScanner {
    /// What is known of the text around a word.
    struct Surroundings {
        let range: Range<Int>
        /// What names in the text are names of.
        let kind: SecretName.Kind
        /// Whether it is XML or HTML from its beginning on.
        let isMarkup: Bool
        /// Where the attribute or the text of the element begins.
        var start: Int
        /// Where the string ends that is open: beyond the text, if it does not end.
        var closingQuote = -1
        /// How many brackets are open.
        var openBrackets = 0
        /// The tag that is open.
        var tag: Tag?
        /// Whether the element before has the name of a secret for its content, as a `key` of a property list.
        var isValueOfSecret = false
        /// Where the value ends that was noted last.
        var endOfValue = -1
        /// The name and the value that stand between the same brackets.
        var pair = Pair()
    }

    /// Goes over text of any kind.
    mutating func scanText(_ range: Range<Int>, as kind: SecretName.Kind = .field) {
        var position = skipSpace(from: range.lowerBound, to: range.upperBound)
        guard position < range.upperBound else { return }
        if bytes[position] == UInt8(ascii: "\""), case let close = endOfString(at: position, to: range.upperBound),
            skipSpace(from: close, to: range.upperBound) == range.upperBound
        {
            return scanString(position..<close)
        }
        let isMarkup = bytes[position] == UInt8(ascii: "<") && position + 1 < range.upperBound && bytes[position + 1].beginsMarkup
        var surroundings = Surroundings(range: range, kind: kind, isMarkup: isMarkup, start: position)
        while position < range.upperBound { position = scanNext(at: position, in: &surroundings) }
        if let value = surroundings.tag?.pair.value { hide(value) }
    }

    /// Returns where to go on.
    private mutating func scanNext(at position: Int, in surroundings: inout Surroundings) -> Int {
        switch bytes[position] {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), 0x80...:
            return scanWord(at: position, in: &surroundings)
        case UInt8(ascii: "%") where bytes.hexNumber(at: position + 1, count: 2, to: surroundings.range.upperBound) != nil:
            return scanWord(at: position, in: &surroundings)
        case UInt8(ascii: "&") where InnerText.isReference(bytes, at: position, to: surroundings.range.upperBound):
            return scanHTML(at: position, in: &surroundings)
        case UInt8(ascii: "[") where position > surroundings.range.lowerBound && bytes[position - 1].isWordByte:
            surroundings.openBrackets += 1
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            return scanJSON(from: position, in: &surroundings)
        case UInt8(ascii: "("):
            surroundings.pair = Pair()
            surroundings.openBrackets += 1
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
            if let value = surroundings.pair.secretValue { hide(value) }
            surroundings.pair = Pair()
            surroundings.openBrackets = max(0, surroundings.openBrackets - 1)
        case UInt8(ascii: "\""): return scanQuoted(at: position, in: &surroundings)
        case UInt8(ascii: "<"): return scanTag(at: position, in: &surroundings)
        case UInt8(ascii: ">"):
            surroundings.start = position + 1
            return scanElement(at: position, in: &surroundings)
        case UInt8(ascii: "-") where hasPrefix("-----BEGIN ", at: position, to: surroundings.range.upperBound):
            guard hidesSecrets, let end = endOfPrivateKey(at: position, to: surroundings.range.upperBound) else { break }
            replace(position..<end, with: redactor.mark)
            return end
        default: break
        }
        return position + 1
    }

    /// Goes over what is written as in an attribute or an element of HTML, and returns where that ends.
    private mutating func scanHTML(at position: Int, in surroundings: inout Surroundings) -> Int {
        let close = firstIndex(from: position, to: surroundings.range.upperBound) { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "\"") }
        scan(InnerText(html: surroundings.start..<close, in: bytes))
        surroundings.start = close
        return close
    }

    /// Goes over a string with escapes, and returns where it ends. Without escapes, or as a name, it is like other text.
    private mutating func scanQuoted(at position: Int, in surroundings: inout Surroundings) -> Int {
        surroundings.start = position + 1
        guard position > surroundings.closingQuote, surroundings.tag == nil else { return position + 1 }
        let end = surroundings.range.upperBound
        let string = position..<endOfString(at: position, to: end)
        surroundings.closingQuote = isClosed(string) ? string.upperBound - 1 : end
        let next = skipSpace(from: string.upperBound, to: end)
        let isName = next < end && bytes[next] == UInt8(ascii: ":")
        guard !isName, isClosed(string), contains(UInt8(ascii: "\\"), in: string) else { return position + 1 }
        scanString(string)
        surroundings.start = string.upperBound
        return string.upperBound
    }

    /// Where a PEM text (RFC 7468) ends that is a private key.
    func endOfPrivateKey(at start: Int, to end: Int) -> Int? {
        let label = firstIndex(from: start + 11, to: min(end, start + 80)) { $0 == UInt8(ascii: "-") }
        guard bytes[start..<label].firstIndex(of: "PRIVATE KEY") != nil else { return nil }
        guard let last = bytes[label..<end].firstIndex(of: "-----END ") else { return end }
        let dashes = firstIndex(from: last + 9, to: end) { $0 == UInt8(ascii: "-") }
        return firstIndex(from: dashes, to: end) { $0 != UInt8(ascii: "-") }
    }

    /// Goes over a word: a name, the beginning of a URL, or a token.
    private mutating func scanWord(at start: Int, in surroundings: inout Surroundings) -> Int {
        let (end, hasEscapes) = endOfWord(at: start, to: surroundings.range.upperBound)
        let word = start..<end
        if let next = scanURL(after: word, in: surroundings) ?? scanAssignment(to: word, in: &surroundings) { return next }
        guard hidesSecrets || hasEscapes else { return end }
        if let next = hideCredential(after: word, in: surroundings) { return next }
        if hasEscapes {
            let end = firstIndex(from: end, to: surroundings.range.upperBound) { $0.endsURL || $0 == UInt8(ascii: "&") }
            scan(InnerText(percentEncoded: start..<end, in: bytes), as: surroundings.kind)
            return end
        }
        hideTokens(in: word, isCut: isCut && end == bytes.count)
        return end
    }

    /// Where a word ends: letters, digits, `-_.`, escapes such as `%5B`, and brackets such as `[password]`.
    private func endOfWord(at start: Int, to end: Int) -> (end: Int, hasEscapes: Bool) {
        var (position, hasEscapes) = (start, false)
        while position < end {
            switch bytes[position] {
            case let byte where byte.isWordByte || byte.joinsWords: position += 1
            case UInt8(ascii: "%") where bytes.hexNumber(at: position + 1, count: 2, to: end) != nil:
                (position, hasEscapes) = (position + 3, true)
            case UInt8(ascii: "["):
                let close = firstIndex(from: position + 1, to: min(end, position + 64)) { !$0.isWordByte && !$0.joinsWords }
                guard close < end, bytes[close] == UInt8(ascii: "]") else { return (position, hasEscapes) }
                position = close + 1
            default: return (position, hasEscapes)
            }
        }
        return (position, hasEscapes)
    }
}

extension UInt8 {
    var joinsWords: Bool { self == UInt8(ascii: "-") || self == UInt8(ascii: "_") || self == UInt8(ascii: ".") }

    /// What may follow the `<` of a tag, a comment or a declaration.
    fileprivate var beginsMarkup: Bool { isLetter || self == UInt8(ascii: "!") || self == UInt8(ascii: "?") }

    /// What no URL has that stands in text.
    var endsURL: Bool { isWhitespace || "\"<>`\\".utf8.contains(self) }
}

extension ArraySlice<UInt8> {
    func firstIndex(of text: StaticString) -> Int? { indices.first { self[$0...].starts(with: text) } }
}
