extension SecretScanner {
    /// An object or an array that is open.
    private struct Frame {
        var isObject: Bool
        let start: Int
        /// The member whose value it is.
        let member: Member?
        /// Among its members, or its first two elements.
        var pair = Pair()
        var count = 0
    }

    /// The name of a value that comes next.
    private struct Member {
        let name: Range<Int>
        let secrecy: SecretName.Secrecy
        let role: SecretName.Role?
    }

    /// Goes over JSON that begins at `start`, up to its end or to what is no JSON, and returns where that is.
    ///
    /// It keeps its place in a list and not on the stack, which deep nesting would take.
    mutating func scanJSON(from start: Int, in surroundings: inout Surroundings) -> Int {
        let end = surroundings.range.upperBound
        var frames: [Frame] = []
        var member: Member?
        var position = start
        repeat {
            let byte = bytes[position]
            switch byte {
            case _ where byte.isWhitespace || byte == UInt8(ascii: ":"):
                position += 1
                continue
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                countElement(of: &frames)
                if isSecret(member, in: frames, isScalar: false) {
                    let close = endOfStructure(at: position, to: end)
                    hideStructure(position..<close, mark: redactor.quotedMark)
                    position = close
                } else {
                    frames.append(Frame(isObject: byte == UInt8(ascii: "{"), start: position, member: member))
                    position += 1
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                position += 1
                if let frame = frames.popLast() { close(frame, at: position, in: &frames) }
            case UInt8(ascii: "\""):
                let close = endOfString(at: position, to: end)
                let next = skipSpace(from: close, to: end)
                if member == nil, next < end, bytes[next] == UInt8(ascii: ":"), !frames.isEmpty {
                    // Swift writes a dictionary in the brackets of an array.
                    frames[frames.count - 1].isObject = true
                    member = self.member(named: contentOfString(position..<close), in: frames)
                    position = next
                    continue
                }
                if member == nil, next < end, bytes[next] == UInt8(ascii: "=") {
                    finish(frames)
                    surroundings.openBrackets += frames.count
                    return position
                }
                countElement(of: &frames)
                if isSecret(member, in: frames, isScalar: true) {
                    hideString(position..<close)
                } else {
                    scanString(position..<close)
                    note(position..<close, of: member, in: &frames)
                }
                position = close
            default:
                guard let close = endOfLiteral(at: position, to: end) else {
                    finish(frames)
                    surroundings.openBrackets += frames.count
                    guard let member, isSecret(member, in: frames, isScalar: true) else { return position }
                    return hideValue(at: position, of: member.name, .scalar, in: surroundings) ?? position
                }
                countElement(of: &frames)
                if isSecret(member, in: frames, isScalar: true) {
                    hideNumber(position..<close)
                } else {
                    note(position..<close, of: member, in: &frames)
                }
                position = close
            }
            member = nil
        } while position < end && !frames.isEmpty
        finish(frames)
        return position
    }

    private mutating func member(named name: Range<Int>, in frames: [Frame]) -> Member {
        let inner = contains(UInt8(ascii: "\\"), in: name) ? InnerText(jsonString: name, in: bytes).bytes : nil
        let text = inner.map { $0[...] } ?? bytes[name]
        var secrecy = redactor.redaction.secrecy(of: text, as: .field)
        // The id of a session is a secret, and so is the key of an API.
        if secrecy == .none, let parent = frames.last?.member, text.elementsEqual("id".utf8) || text.elementsEqual("key".utf8) {
            secrecy = redactor.redaction.secrecy(of: bytes[parent.name] + [UInt8(ascii: "_")] + text, as: .field)
        }
        hideTokens(in: name)
        return Member(name: name, secrecy: secrecy, role: SecretName(text).role)
    }

    private func isSecret(_ member: Member?, in frames: [Frame], isScalar: Bool) -> Bool {
        guard let member else { return false }
        return member.secrecy == .whole || member.secrecy == .scalar && isScalar
            || member.role == .value && frames.last?.pair.isSecret == true
    }

    private func countElement(of frames: inout [Frame]) {
        guard let frame = frames.last, !frame.isObject else { return }
        frames[frames.count - 1].count += 1
    }

    /// Notes a value that may belong to a name, or be one.
    private func note(_ value: Range<Int>, of member: Member?, in frames: inout [Frame]) {
        guard let frame = frames.last else { return }
        if frame.isObject ? member?.role == .label : frame.count == 1 {
            let isSecret = bytes[value.lowerBound] == UInt8(ascii: "\"") && isSecretName(contentOfString(value))
            frames[frames.count - 1].pair.isSecret = frame.pair.isSecret == true || isSecret
        } else if frame.isObject ? member?.role == .value : frame.count == 2 {
            frames[frames.count - 1].pair.value = value
        }
    }

    private mutating func close(_ frame: Frame, at end: Int, in frames: inout [Frame]) {
        let isPair = frame.isObject || frame.count == 2 && frames.last?.isObject == false
        if isPair, let value = frame.pair.secretValue { hideLate(value) }
        note(frame.start..<end, of: frame.member, in: &frames)
    }

    /// Leaves out values whose name may come where the text has been cut.
    private mutating func finish(_ frames: [Frame]) {
        for frame in frames where frame.isObject ? frame.pair.isSecret != false : frame.count == 2 && frame.pair.isSecret == true {
            if let value = frame.pair.value { hideLate(value) }
        }
    }

    /// Leaves out a value that has been looked into.
    private mutating func hideLate(_ value: Range<Int>) {
        switch bytes[value.lowerBound] {
        case UInt8(ascii: "\""): hideString(value)
        case UInt8(ascii: "{"), UInt8(ascii: "["): replace(value, with: redactor.quotedMark)
        default: hideNumber(value)
        }
    }
}

// The parts of JSON (RFC 8259).
extension SecretScanner {
    /// Where the string ends whose quote is at `start`.
    func endOfString(at start: Int, to end: Int) -> Int {
        var position = start + 1
        while position < end, bytes[position] != UInt8(ascii: "\"") { position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1 }
        return min(position + 1, end)
    }

    private func contentOfString(_ string: Range<Int>) -> Range<Int> {
        string.lowerBound + 1..<(isClosed(string) ? string.upperBound - 1 : string.upperBound)
    }

    func isClosed(_ string: Range<Int>) -> Bool {
        guard string.count > 1, bytes[string.upperBound - 1] == UInt8(ascii: "\"") else { return false }
        let content = string.lowerBound + 1..<string.upperBound - 1
        return bytes[content].reversed().prefix { $0 == UInt8(ascii: "\\") }.count % 2 == 0
    }

    mutating func scanString(_ string: Range<Int>) {
        let content = contentOfString(string)
        if contains(UInt8(ascii: "\\"), in: content) {
            scan(InnerText(jsonString: content, in: bytes))
        } else {
            scanText(content)
        }
    }

    private mutating func hideString(_ string: Range<Int>) {
        let content = contentOfString(string)
        guard !content.isEmpty else { return }
        replace(content, with: redactor.replacement(for: bytes[content]) + (isClosed(string) ? [] : [UInt8(ascii: "\"")]))
    }

    /// Where a number, `true`, `false` or `null` ends.
    private func endOfLiteral(at start: Int, to end: Int) -> Int? {
        let isName = bytes[start].isLowercaseLetter
        let close = firstIndex(from: start, to: end) { isName ? !$0.isLowercaseLetter : !$0.isDigit && !"+-.eE".utf8.contains($0) }
        guard close == end || bytes[close].isWhitespace || ",]}".utf8.contains(bytes[close]) else { return nil }
        let text = bytes[start..<close]
        let isLiteral = isName ? ["true", "false", "null"].contains { text.elementsEqual($0.utf8) } : text.contains(where: \.isDigit)
        return isLiteral ? close : nil
    }

    private mutating func hideNumber(_ literal: Range<Int>) {
        guard bytes[literal].contains(where: \.isDigit) else { return }
        replace(literal, with: redactor.keepsKinds ? [UInt8(ascii: "0")] : redactor.quotedMark)
    }

    /// Where the object or the array ends that begins at `start`.
    func endOfStructure(at start: Int, to end: Int) -> Int {
        var depth = 0
        var position = start
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position = endOfString(at: position, to: end)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            position += 1
            if depth == 0 { break }
        }
        return position
    }

    /// Leaves out an object or an array: as a whole, for which `mark` stands, or each value in it.
    mutating func hideStructure(_ range: Range<Int>, mark: [UInt8]) {
        guard bytes[range].contains(where: { !$0.isWhitespace && !"{}[]".utf8.contains($0) }) else { return }
        guard redactor.keepsKinds else { return replace(range, with: mark) }
        var position = range.lowerBound
        while position < range.upperBound {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let close = endOfString(at: position, to: range.upperBound)
                let next = skipSpace(from: close, to: range.upperBound)
                if next < range.upperBound, bytes[next] == UInt8(ascii: ":") {
                    scanString(position..<close)
                } else {
                    hideString(position..<close)
                }
                position = close
            case let byte where byte.isWhitespace || "{}[]:,".utf8.contains(byte): position += 1
            default:
                let close = firstIndex(from: position, to: range.upperBound) { $0.isWhitespace || "{}[]:,\"".utf8.contains($0) }
                if endOfLiteral(at: position, to: close) != nil {
                    hideNumber(position..<close)
                } else {
                    replace(position..<close, with: redactor.mark)
                }
                position = close
            }
        }
    }
}
