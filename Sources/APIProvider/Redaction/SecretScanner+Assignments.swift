extension SecretScanner {
    /// Looks at a name with a value, as text of any kind has them: `name=value`, `name: "value"`, `"name": 1`, `--name value`.
    ///
    /// Returns where to go on, if the value is left out.
    mutating func scanAssignment(to name: Range<Int>, in surroundings: inout Surroundings) -> Int? {
        guard let value = startOfValue(of: name, in: surroundings) else { return nil }
        if let next = scanPart(of: name, from: value, in: surroundings) { return next }
        let isParameter = isParameter(name, value: value, in: surroundings)
        let plain = plain(name)
        let kind: SecretName.Kind = isParameter ? .parameter : surroundings.kind
        var secrecy = redactor.redaction.secrecy(of: plain, as: kind)
        if secrecy == .none, let words = twoWords(endingWith: name, in: surroundings.range) {
            secrecy = redactor.redaction.secrecy(of: bytes[words], as: kind)
        }
        guard secrecy != .none else {
            note(plain, value: value, in: &surroundings)
            return nil
        }
        if surroundings.isMarkup, surroundings.tag == nil, bytes[value] == UInt8(ascii: "<") {
            surroundings.isValueOfSecret = true
            return nil
        }
        return hideValue(at: value, of: name, secrecy, isParameter: isParameter, in: surroundings)
    }

    private static let secondWords = Words("code id is key phrase was")

    /// A name with the word before it, as people write names: `API key: …`.
    private func twoWords(endingWith name: Range<Int>, in range: Range<Int>) -> Range<Int>? {
        let space = name.lowerBound - 1
        guard space > range.lowerBound, bytes[space] == UInt8(ascii: " "), Self.secondWords.contains(bytes[name]) else { return nil }
        let start = bytes[max(range.lowerBound, space - 16)..<space].lastIndex { !$0.isWordByte }.map { $0 + 1 } ?? range.lowerBound
        return start..<name.upperBound
    }

    /// A name without its escapes.
    func plain(_ name: Range<Int>) -> ArraySlice<UInt8> {
        contains(UInt8(ascii: "%"), in: name) ? InnerText(percentEncoded: name, in: bytes).bytes[...] : bytes[name]
    }

    /// Where the value begins behind a name; `nil` where there is none.
    private func startOfValue(of name: Range<Int>, in surroundings: Surroundings) -> Int? {
        let end = surroundings.range.upperBound
        let mark = endOfQuote(at: name.upperBound, to: end)
        let afterName = firstIndex(from: mark ?? name.upperBound, to: end) { $0 != UInt8(ascii: "]") }
        var position = skipSpace(from: afterName, to: end, overLines: mark != nil)
        guard position < end else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "="):
            position += 1
            if position < end, bytes[position] == UInt8(ascii: "=") || bytes[position] == UInt8(ascii: ">") { position += 1 }
            position = skipSpace(from: position, to: end, overLines: false)
        case UInt8(ascii: ":"):
            position += 1
            if position < end, bytes[position] == UInt8(ascii: ":") { return nil }
            if position < end, bytes[position] == UInt8(ascii: "=") { position += 1 }
            position = skipSpace(from: position, to: end)
        default:
            guard position > afterName, bytes[..<name.lowerBound].suffix(2).starts(with: "--") else { return nil }
        }
        return position < end && !bytes[position].isLineBreak ? position : nil
    }

    /// Whether a name stands as in a query or a form: behind `?`, `&` or `#`, or as `name=` at the beginning of a line.
    private func isParameter(_ name: Range<Int>, value: Int, in surroundings: Surroundings) -> Bool {
        guard bytes[name.upperBound] == UInt8(ascii: "=") else { return false }
        guard name.lowerBound > surroundings.range.lowerBound else { return value == name.upperBound + 1 }
        let before = bytes[name.lowerBound - 1]
        return before == UInt8(ascii: "?") || before == UInt8(ascii: "&") || before == UInt8(ascii: "#")
            || before.isLineBreak && value == name.upperBound + 1
    }

    /// Leaves out the value that begins at `start`, and returns where it ends; `nil` where there is none that is a secret.
    mutating func hideValue(
        at start: Int, of name: Range<Int>, _ secrecy: SecretName.Secrecy, isParameter: Bool = false, in surroundings: Surroundings
    ) -> Int? {
        let end = surroundings.range.upperBound
        // It has been left out before.
        if hasPrefix("…", at: start, to: end) { return start + 3 }
        if let mark = endOfQuote(at: start, to: end) {
            let close = endOfQuoted(by: start..<mark, to: end)
            hide(mark..<close.lowerBound)
            return close.upperBound
        }
        if bytes[start] == UInt8(ascii: "{") || bytes[start] == UInt8(ascii: "[") {
            guard secrecy == .whole else { return nil }
            let close = endOfStructure(at: start, to: end)
            if close == end || !bytes[close].isWordByte {
                // Where no quotation mark is, it may be that none is allowed.
                let hasQuotes = contains(UInt8(ascii: "\""), in: start..<close)
                hideStructure(start..<close, mark: hasQuotes ? redactor.quotedMark : redactor.mark)
                return close
            }
        }
        if isParameter, surroundings.range.lowerBound < name.lowerBound, !bytes[name.lowerBound - 1].isLineBreak {
            let close = firstIndex(from: start, to: end) { $0.endsURL || $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "#") }
            hide(start..<close)
            return close
        }
        var close = endOfUnquoted(at: start, of: name, in: surroundings)
        let next = close
        while close > start, bytes[close - 1].isWhitespace { close -= 1 }
        hide(start..<close)
        return next
    }

    /// Where a value without quotes ends. As nobody knows, that is the end of its line, of the lines below it that are indented, or of the
    /// brackets or the tag that it stands in.
    private func endOfUnquoted(at start: Int, of name: Range<Int>, in surroundings: Surroundings) -> Int {
        let end = surroundings.range.upperBound
        if let end = hasPrefix("-----BEGIN ", at: start, to: end) ? endOfPrivateKey(at: start, to: end) : nil { return end }
        var position = start
        var openBrackets = 0
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): openBrackets += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                if openBrackets == 0, surroundings.openBrackets > 0 { return position }
                openBrackets = max(0, openBrackets - 1)
            case UInt8(ascii: "<") where surroundings.isMarkup: return position
            case UInt8(ascii: ">") where surroundings.isMarkup && surroundings.tag != nil,
                UInt8(ascii: "\"") where surroundings.isMarkup && surroundings.tag != nil:
                return position
            case 0x0A, 0x0D:
                let next = endOfLineBreak(at: position, to: end)
                let indented = skipSpace(from: next, to: end, overLines: false)
                guard indented - next > indentation(of: name.lowerBound, in: surroundings.range) else { return position }
                position = indented
                continue
            default: break
            }
            position += 1
        }
        return position
    }

    /// How many spaces the line of `position` begins with.
    private func indentation(of position: Int, in range: Range<Int>) -> Int {
        let line = bytes[range.lowerBound..<position].lastIndex { $0.isLineBreak }.map { $0 + 1 } ?? range.lowerBound
        return skipSpace(from: line, to: position) - line
    }
}

// Quotation marks, which have backslashes before them where text is quoted in quoted text.
extension SecretScanner {
    /// Where a quotation mark ends that begins at `start`; `nil` where there is none.
    func endOfQuote(at start: Int, to end: Int) -> Int? {
        let position = firstIndex(from: start, to: min(end, start + 256)) { $0 != UInt8(ascii: "\\") }
        guard position < end else { return nil }
        return bytes[position].isQuote ? position + 1 : nil
    }

    /// The quotation mark that closes what `mark` opens; the end, where none does.
    func endOfQuoted(by mark: Range<Int>, to end: Int) -> Range<Int> {
        let quote = bytes[mark.upperBound - 1]
        var position = mark.upperBound
        while true {
            let start = position
            position = firstIndex(from: start, to: end) { $0 != UInt8(ascii: "\\") }
            guard position < end else { return end..<end }
            guard bytes[position] == quote else {
                position += 1
                continue
            }
            let backslashes = position - start
            position += 1
            if mark.count > 1 {
                // One with fewer backslashes closes what this one stands in.
                if backslashes < mark.count { return start..<(backslashes == mark.count - 1 ? position : start) }
            } else if backslashes % 2 == 0 {
                if position < end, bytes[position] == quote {
                    position += 1  // A doubled one stands for itself.
                } else if position == end || !bytes[position].isWordByte {
                    return position - 1..<position
                }
            }
        }
    }
}

extension UInt8 {
    fileprivate var isQuote: Bool { self == UInt8(ascii: "\"") || self == UInt8(ascii: "'") || self == UInt8(ascii: "`") }
}
