/// Looks for secrets in text, and notes what is to be written in place of each.
///
/// It goes over the bytes once, whatever they are: JSON, a form, XML, or words among which these stand. What is written in another way within
/// the text, such as JSON in a string of JSON, is a text of its own, to a depth beyond which all of it is left out.
struct SecretScanner {
    struct Edit {
        let range: Range<Int>
        let text: [UInt8]
    }

    let bytes: [UInt8]
    let redactor: Redactor
    /// In how many other texts that stands which is looked at.
    private var depth: Int
    /// Whether every value of a query is left out, and not those of secrets alone.
    let hidesQueries: Bool
    /// What begins here may end elsewhere.
    let isCut: Bool
    let hidesSecrets: Bool
    private(set) var edits: [Edit] = []

    private static let maximumDepth = 12

    init(_ bytes: [UInt8], _ redactor: Redactor, hidesQueries: Bool, isCut: Bool) {
        (self.bytes, self.redactor, self.hidesQueries, self.isCut, depth) = (bytes, redactor, hidesQueries, isCut, 0)
        hidesSecrets = redactor.redaction.hidesSecrets
        guard hidesSecrets, case let segments = KnownSecrets.segments, !segments.isEmpty else { return }
        for position in bytes.indices where bytes[position].isWordByte && (position == 0 || !bytes[position - 1].isWordByte) {
            for (range, shown) in segments.matches(in: bytes, at: position) { replace(range, with: redactor.marking(shown)) }
        }
    }

    /// The text with what is noted; `nil` where nothing is left out.
    var result: [UInt8]? {
        guard !edits.isEmpty else { return nil }
        var result: [UInt8] = []
        var copied = 0
        for edit in edits.sorted(by: { ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound) }) {
            // One that begins within another is left out with it, and so is the end of one that goes beyond it.
            if edit.range.lowerBound >= copied { result += bytes[copied..<edit.range.lowerBound] + edit.text }
            copied = max(copied, edit.range.upperBound)
        }
        return result + bytes[copied...]
    }

    mutating func replace(_ range: Range<Int>, with text: [UInt8]) {
        guard !range.isEmpty else { return }
        edits.append(Edit(range: range, text: text))
    }

    /// Leaves out a value, of which nothing but its kind is shown.
    mutating func hide(_ range: Range<Int>) { replace(range, with: redactor.replacement(for: bytes[range])) }

    func secrecy(of name: Range<Int>, as kind: SecretName.Kind) -> SecretName.Secrecy {
        redactor.redaction.secrecy(of: bytes[name], as: kind)
    }

    /// Looks into text that is written in another way within this one.
    mutating func scan(_ inner: InnerText, as kind: SecretName.Kind = .field) {
        guard let scanner = scanner(of: inner.bytes, as: kind) else { return replace(inner.source, with: redactor.mark) }
        for edit in scanner.edits { replace(inner.source(of: edit.range), with: inner.written(edit.text)) }
    }

    /// What has gone over `inner`, a text within this one; `nil` where that is too deep.
    func scanner(of inner: [UInt8], as kind: SecretName.Kind = .field) -> SecretScanner? {
        guard depth < Self.maximumDepth else { return nil }
        var scanner = SecretScanner(inner, redactor, hidesQueries: hidesQueries, isCut: isCut)
        scanner.depth = depth + 1
        scanner.scanBody(inner.indices, contentType: nil, as: kind)
        return scanner
    }

    /// Goes over what stands within something else, such as a URL in the query of a URL, or leaves it out where that is too deep.
    mutating func scanNested(_ range: Range<Int>, _ scan: (inout SecretScanner) -> Void) {
        guard depth < Self.maximumDepth else { return replace(range, with: redactor.mark) }
        depth += 1
        scan(&self)
        depth -= 1
    }
}

extension SecretScanner {
    /// Where the white space from `position` ends.
    func skipSpace(from position: Int, to end: Int, overLines: Bool = true) -> Int {
        var position = position
        while position < end, bytes[position].isWhitespace, overLines || !bytes[position].isLineBreak { position += 1 }
        return position
    }

    func hasPrefix(_ text: StaticString, at position: Int, to end: Int) -> Bool {
        end - position >= text.utf8CodeUnitCount && bytes[position..<end].starts(with: text)
    }

    func contains(_ byte: UInt8, in range: Range<Int>) -> Bool {
        bytes[range].contains(byte)
    }

    /// Where `bytes` next has one of these, or `end`.
    func firstIndex(from start: Int, to end: Int, where isFound: (UInt8) -> Bool) -> Int {
        var position = start
        while position < end, !isFound(bytes[position]) { position += 1 }
        return position
    }
}

extension Collection<UInt8> {
    func starts(with text: StaticString) -> Bool {
        starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

extension UInt8 {
    var isLineBreak: Bool { self == 0x0A || self == 0x0D }
}
