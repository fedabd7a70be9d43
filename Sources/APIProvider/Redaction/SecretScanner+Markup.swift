extension SecretScanner {
    /// A name and a value that stand side by side: the attributes of `<input name="password" value="…">`, or the members of
    /// `{"name": "password", "value": "…"}`.
    struct Pair {
        var isSecret: Bool?
        var value: Range<Int>?

        var secretValue: Range<Int>? { isSecret == true ? value : nil }
    }

    /// The beginning of an element.
    struct Tag {
        let name: Range<Int>
        var pair = Pair()
    }

    /// Notes the value that begins at `start` if it is that of a `name` or a `value`.
    func note(_ name: some BidirectionalCollection<UInt8>, value start: Int, in surroundings: inout Surroundings) {
        guard surroundings.tag != nil || surroundings.openBrackets > 0, let role = SecretName(name).role else { return }
        let end = surroundings.range.upperBound
        let mark = endOfQuote(at: start, to: end)
        let content = mark ?? start
        // What looks like a name within a value has that value's end.
        if content >= surroundings.endOfValue {
            let quote = mark.map { bytes[$0 - 1] }
            surroundings.endOfValue = firstIndex(from: content, to: end) { byte in
                quote.map { $0 == byte || byte == UInt8(ascii: "\\") } ?? (byte.endsURL || ",;)}]".utf8.contains(byte))
            }
        }
        let value = content..<surroundings.endOfValue
        var pair = surroundings.tag?.pair ?? surroundings.pair
        switch role {
        case .label: pair.isSecret = pair.isSecret == true || isSecretName(value)
        case .value: pair.value = value
        }
        if surroundings.tag != nil { surroundings.tag?.pair = pair } else { surroundings.pair = pair }
    }

    /// Whether the name of a secret stands here, as a value.
    func isSecretName(_ range: Range<Int>) -> Bool {
        guard range.count <= 64, bytes[range].count(where: { $0 == 0x20 }) < 3 else { return false }
        return secrecy(of: range, as: .field) != .none
            || bytes[range].allSatisfy(\.isLetter) && secrecy(of: range, as: .parameter) != .none
    }

    /// Returns where to go on behind a `<`.
    func scanTag(at start: Int, in surroundings: inout Surroundings) -> Int {
        let end = surroundings.range.upperBound
        let first = start + 1
        let name = first..<firstIndex(from: first, to: end) { !$0.isWordByte && !$0.joinsWords && $0 != UInt8(ascii: ":") }
        guard name.upperBound < end, bytes[name].first?.isLetter == true,
            bytes[name.upperBound].isWhitespace || ">/".utf8.contains(bytes[name.upperBound]),
            !hasPrefix("//", at: name.upperBound, to: end)
        else { return first }
        surroundings.tag = Tag(name: name)
        return name.upperBound
    }

    /// Returns where to go on behind the tag that ends here: behind the element, if that is a secret.
    mutating func scanElement(at close: Int, in surroundings: inout Surroundings) -> Int {
        let start = close + 1
        guard let tag = surroundings.tag else { return start }
        surroundings.tag = nil
        let isLabelled = tag.pair.isSecret == true
        if isLabelled, let value = tag.pair.value { hide(value) }
        guard bytes[close - 1] != UInt8(ascii: "/") else { return start }

        let local = bytes[tag.name].lastIndex(of: UInt8(ascii: ":")).map { $0 + 1..<tag.name.upperBound } ?? tag.name
        let isSecret = secrecy(of: local, as: .field) != .none || surroundings.isValueOfSecret
        surroundings.isValueOfSecret = false
        let next = firstIndex(from: start, to: surroundings.range.upperBound) { $0 == UInt8(ascii: "<") }
        if isSecret || isLabelled && tag.pair.value == nil && isEnd(of: tag.name, at: next) {
            guard let end = endOfElement(tag.name, from: start, in: surroundings) else { return start }
            hideContent(start..<end)
            return end
        }
        if Self.labels.contains(bytes[local]) { surroundings.isValueOfSecret = isSecretName(start..<next) }
        return start
    }

    /// Elements of property lists, of XML-RPC, and of lists and tables in HTML.
    private static let labels = Words("key name dt th td label")

    private func isEnd(of name: Range<Int>, at position: Int) -> Bool {
        hasPrefix("</", at: position, to: bytes.count) && bytes[(position + 2)...].starts(with: bytes[name])
    }

    /// Where the content of an element ends. In text that is no XML, something else may look like a tag, as `Array<Token>` does.
    private func endOfElement(_ name: Range<Int>, from start: Int, in surroundings: Surroundings) -> Int? {
        let end = surroundings.range.upperBound
        let limit = surroundings.isMarkup ? end : min(end, start + 1024)
        if let position = (start..<limit).first(where: { isEnd(of: name, at: $0) }) { return position }
        return surroundings.isMarkup || isCut && limit == end ? end : nil
    }

    /// Leaves out what an element holds: its text, and that of the elements and attributes in it.
    private mutating func hideContent(_ range: Range<Int>) {
        var content = range
        while let first = content.first, bytes[first].isWhitespace { content = content.dropFirst() }
        while let last = content.last, bytes[last].isWhitespace { content = content.dropLast() }
        guard redactor.keepsKinds else { return hide(content) }
        var position = content.lowerBound
        while position < content.upperBound {
            if hasPrefix("<![CDATA[", at: position, to: content.upperBound) {
                position += 9
                let end = firstIndex(from: position, to: content.upperBound) { $0 == UInt8(ascii: "]") }
                hide(position..<end)
                position = end
            } else if bytes[position] == UInt8(ascii: "<") || bytes[position] == UInt8(ascii: "]") {
                let end = firstIndex(from: position, to: content.upperBound) { $0 == UInt8(ascii: ">") }
                hideAttributes(in: position..<end)
                position = end + 1
            } else {
                let end = firstIndex(from: position, to: content.upperBound) { $0 == UInt8(ascii: "<") }
                if skipSpace(from: position, to: end) < end { hide(position..<end) }
                position = end
            }
        }
    }

    private mutating func hideAttributes(in tag: Range<Int>) {
        var position = tag.lowerBound
        while position < tag.upperBound {
            defer { position += 1 }
            guard let mark = endOfQuote(at: position, to: tag.upperBound) else { continue }
            let close = endOfQuoted(by: position..<mark, to: tag.upperBound)
            hide(mark..<close.lowerBound)
            position = close.upperBound
        }
    }
}
