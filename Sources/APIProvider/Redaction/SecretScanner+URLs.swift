extension SecretScanner {
    /// Goes over the URL that `scheme` begins, and returns where it ends; `nil` where no URL begins.
    mutating func scanURL(after scheme: Range<Int>, in surroundings: Surroundings) -> Int? {
        let end = surroundings.range.upperBound
        guard scheme.upperBound < end, bytes[scheme.upperBound] == UInt8(ascii: ":") || bytes[scheme.upperBound] == UInt8(ascii: "@") else {
            return nil
        }
        if hasPrefix("://", at: scheme.upperBound, to: end) || hasPrefix(#":\/\/"#, at: scheme.upperBound, to: end) {
            let quote = scheme.lowerBound > surroundings.range.lowerBound ? bytes[scheme.lowerBound - 1] : 0
            let close = endOfURL(from: scheme.upperBound, to: end, isInApostrophes: quote == UInt8(ascii: "'"))
            scanNested(scheme.lowerBound..<close) { $0.scanURL(scheme.lowerBound..<close) }
            return close
        }
        return scanDataURL(from: scheme, to: end) ?? hideUser(from: scheme, to: end)
    }

    private func endOfURL(from start: Int, to end: Int, isInApostrophes: Bool) -> Int {
        var position = start
        while position < end, !bytes[position].endsURL || hasPrefix(#"\/"#, at: position, to: end) {
            if isInApostrophes, bytes[position] == UInt8(ascii: "'") { break }
            position += 1
        }
        return position
    }

    /// Goes over a URL, or a reference to one (RFC 3986).
    mutating func scanURL(_ range: Range<Int>) {
        let start = hideUser(in: range) ?? range.lowerBound
        let fragment = firstIndex(from: start, to: range.upperBound) { $0 == UInt8(ascii: "#") }
        let query = firstIndex(from: start, to: fragment) { $0 == UInt8(ascii: "?") }
        scanPath(start..<query)
        for part in [query..<fragment, fragment..<range.upperBound] where !part.isEmpty {
            if hidesQueries, part.lowerBound == fragment {
                replace(part.dropFirst(), with: redactor.mark)
            } else {
                scanForm(part.dropFirst(), hidesValues: hidesQueries)
            }
        }
    }

    /// Goes over what stands between slashes, each of its own.
    mutating func scanPath(_ range: Range<Int>) {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = firstIndex(from: start, to: range.upperBound) { $0 == UInt8(ascii: "/") }
            scanText(start..<end, as: .parameter)
            start = end + 1
        }
    }

    /// Leaves out the user and the password of a URL (RFC 3986, section 3.2.1), and returns where its host begins.
    private mutating func hideUser(in url: Range<Int>) -> Int? {
        let slashes = firstIndex(from: url.lowerBound, to: url.upperBound) { "/?#".utf8.contains($0) }
        let start = firstIndex(from: slashes, to: url.upperBound) { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
        guard start - slashes > 1,
            slashes == url.lowerBound || bytes[..<slashes].last(where: { $0 != UInt8(ascii: "\\") }) == UInt8(ascii: ":")
        else { return nil }
        var end = firstIndex(from: start, to: url.upperBound) { "/\\?#".utf8.contains($0) }
        let colon = firstIndex(from: start, to: end) { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "[") }
        let isPort = colon == end || bytes[colon] != UInt8(ascii: ":") || bytes[colon + 1..<end].allSatisfy(\.isDigit)
        // What is no port is a password, and may hold a slash that should be an escape.
        if !isPort { end = url.upperBound }
        guard hidesSecrets else { return start }
        guard let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) else {
            if isCut, !isPort, end == bytes.count { replace(start..<end, with: redactor.mark) }
            return start
        }
        replace(start..<at, with: redactor.mark)
        return at + 1
    }

    /// Leaves out a user and a password that stand before a host without a scheme, and returns where the host begins.
    private mutating func hideUser(from user: Range<Int>, to end: Int) -> Int? {
        guard hidesSecrets else { return nil }
        if bytes[user.upperBound] == UInt8(ascii: "@"), bytes[..<user.lowerBound].suffix(2).starts(with: "//") {
            replace(user, with: redactor.mark)
            return user.upperBound
        }
        if bytes[user.upperBound] == UInt8(ascii: ":"), isOption(before: user.lowerBound) {
            let close = firstIndex(from: user.upperBound, to: end) { $0.endsURL || $0 == UInt8(ascii: "'") }
            replace(user.lowerBound..<close, with: redactor.mark)
            return close
        }
        guard bytes[user.upperBound] == UInt8(ascii: ":") else { return nil }
        let at = firstIndex(from: user.upperBound + 1, to: min(end, user.upperBound + 128)) {
            $0 == UInt8(ascii: "@") || $0.endsURL || "/,;'()".utf8.contains($0)
        }
        guard at < end, bytes[at] == UInt8(ascii: "@"), at > user.upperBound + 1, isHost(at: at + 1, to: end), !isMail(bytes[user]) else {
            return nil
        }
        replace(user.lowerBound..<at, with: redactor.mark)
        return at
    }

    /// Whether the option of a command that takes a user and a password stands before `position`.
    private func isOption(before position: Int) -> Bool {
        let text = bytes[..<position].suffix(8).drop { $0 != UInt8(ascii: "-") }.filter { !"=' \"".utf8.contains($0) }
        return text.elementsEqual("-u".utf8) || text.elementsEqual("--user".utf8)
    }

    /// Whether a name with a dot, or a host with a port, begins here; a version such as `4.17.21` is none.
    private func isHost(at start: Int, to end: Int) -> Bool {
        let close = firstIndex(from: start, to: min(end, start + 256)) { !$0.isWordByte && !$0.joinsWords }
        let labels = bytes[start..<close].split(separator: UInt8(ascii: "."))
        if labels.count > 1 { return labels.last?.first?.isLetter == true || labels.count == 4 }
        guard labels.count == 1, close < end, bytes[close] == UInt8(ascii: ":") else {
            return bytes[start..<close].elementsEqual("localhost".utf8)
        }
        let port = bytes[(close + 1)..<end].prefix(while: \.isWordByte)
        return 1...5 ~= port.count && port.allSatisfy(\.isDigit)
    }

    private func isMail(_ name: ArraySlice<UInt8>) -> Bool {
        ["mailto", "mail", "email", "from", "to", "cc", "bcc", "sip", "sips", "xmpp", "acct"].contains(
            String(decoding: name, as: UTF8.self).lowercased())
    }

    /// Goes over what a `data:` URL holds (RFC 2397), and returns where it ends; `nil` where there is none.
    private mutating func scanDataURL(from scheme: Range<Int>, to end: Int) -> Int? {
        guard Redaction.key(bytes[scheme].suffix(5)) == Array("data".utf8) else { return nil }
        let comma = firstIndex(from: scheme.upperBound, to: min(end, scheme.upperBound + 128)) { $0 == UInt8(ascii: ",") || $0.endsURL }
        guard comma < end, bytes[comma] == UInt8(ascii: ","), comma + 1 < end, !bytes[comma + 1].isWhitespace else { return nil }
        let isBase64 = bytes[scheme.upperBound..<comma].suffix(7).elementsEqual(";base64".utf8)
        let close = firstIndex(from: comma + 1, to: end) { isBase64 ? $0.endsURL || $0 == UInt8(ascii: ")") : $0.isWhitespace }
        if isBase64 {
            scanBase64(comma + 1..<close)
        } else {
            scan(InnerText(percentEncoded: comma + 1..<close, in: bytes))
        }
        return close
    }
}

extension SecretScanner {
    /// Goes over what `&` separates: a query, or a form as the WHATWG URL standard has it.
    ///
    /// What a value is does not show, for in replay it stands for any.
    mutating func scanForm(_ range: Range<Int>, hidesValues: Bool = false) {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = firstIndex(from: start, to: range.upperBound) { $0 == UInt8(ascii: "&") }
            scanParameter(start..<end, hidesValue: hidesValues)
            start = end + 1
        }
    }

    private mutating func scanParameter(_ range: Range<Int>, hidesValue: Bool) {
        let equals = firstIndex(from: range.lowerBound, to: range.upperBound) { $0 == UInt8(ascii: "=") }
        guard equals < range.upperBound else { return hidesValue ? replace(range, with: redactor.mark) : scanValue(range) }
        let name = plain(range.lowerBound..<equals)
        // A fragment may be a path with a query of its own: `#/callback?code=…`. In HTML, `&` is `&amp;`.
        let start = name.lastIndex { "?#;".utf8.contains($0) }.map { $0 + 1 } ?? name.startIndex
        if hidesValue || redactor.redaction.secrecy(of: name, as: .parameter) != .none
            || start > name.startIndex && redactor.redaction.secrecy(of: name[start...], as: .parameter) != .none
        {
            replace(equals + 1..<range.upperBound, with: redactor.mark)
        } else {
            scanValue(equals + 1..<range.upperBound)
        }
        scanValue(range.lowerBound..<equals)
    }

    private mutating func scanValue(_ range: Range<Int>) {
        if bytes[range].contains(where: { "%+".utf8.contains($0) }) {
            scan(InnerText(percentEncoded: range, in: bytes, plusIsSpace: true))
        } else {
            scanText(range)
        }
    }
}
