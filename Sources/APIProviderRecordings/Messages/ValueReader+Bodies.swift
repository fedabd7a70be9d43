import APIProvider
import Foundation
import MockNetwork

extension ValueReader {
    /// The edits in a body of this Content-Type.
    func body(_ bytes: [UInt8], _ type: String) -> Edits {
        let mediaType = type.mediaType
        if mediaType.hasPrefix("multipart/"), let parts = Multipart(Data(bytes), type: type)?.parts {
            return parts.flatMap { part -> Edits in
                let content = [UInt8](part.content)
                guard content.isUTF8 else { return [] }
                if let name = part.name, let text = newText(NamedValue(name: name, text: content.text)) {
                    return [(part.range, Array(text.utf8))]
                }
                return part.type.map { body(content, $0).shifted(by: part.range.lowerBound) } ?? []
            }
        }
        if mediaType == "application/x-www-form-urlencoded" || mediaType.isEmpty && bytes.looksLikeForm {
            return form(bytes, in: 0..<bytes.count)
        }
        if mediaType == "text/event-stream" { return events(bytes) }
        if let edits = json(bytes) { return edits }
        guard mediaType.isStreamOfLines else { return text(bytes) }
        return bytes.split("\n", in: 0..<bytes.count).flatMap { line -> Edits in
            // A mark may stand before a JSON text (RFC 7464).
            let content = Array(bytes[line].drop { $0 <= 0x20 })
            return (json(content) ?? text(content)).shifted(by: line.upperBound - content.count)
        }
    }

    /// The `data` of an event is one text, although each of its lines has a name.
    private func events(_ bytes: [UInt8]) -> Edits {
        var (edits, data, places): (Edits, [UInt8], [Range<Int>]) = ([], [], [])
        func endEvent() {
            let found = json(data) ?? text(data)
            if !found.isEmpty {
                let lines = data.applying(found).text.split(separator: "\n", omittingEmptySubsequences: false)
                for (index, place) in places.enumerated() {
                    let isLast = index == places.count - 1
                    let text = isLast ? lines.dropFirst(index).joined(separator: "\ndata: ") : lines.dropFirst(index).first.map(String.init)
                    edits.append((place, Array((text ?? "").utf8)))
                }
            }
            (data, places) = ([], [])
        }
        for line in bytes.split("\n", in: 0..<bytes.count) {
            let end = line.isEmpty || bytes[line.upperBound - 1] != 0x0D ? line.upperBound : line.upperBound - 1
            guard bytes[line].starts(with: "data:".utf8) else {
                if line.lowerBound >= end { endEvent() }
                continue
            }
            let start = line.lowerBound + 5
            let content = start + (start < end && bytes[start] == 0x20 ? 1 : 0)..<end
            data += (places.isEmpty ? [] : [0x0A]) + bytes[content]
            places.append(content)
        }
        endEvent()
        return edits
    }

    // MARK: - JSON

    /// An object or an array that is open.
    private struct Level {
        /// The name that its elements share.
        let name: String
        /// What a member called `name`, `key` or `path` says that the `value` beside it is.
        var nameOfValue: String?
        var values: [JSONTokens.Token] = []
    }

    /// The edits in a JSON text; `nil` if it is none.
    func json(_ bytes: [UInt8], in enclosing: [String] = []) -> Edits? {
        let start = bytes.firstWordPlace
        guard start < bytes.count, bytes[start] >= 0x80 || "{[\"".utf8.contains(bytes[start]) else { return nil }
        var tokens = JSONTokens(Data(bytes))
        var (edits, levels, names, name): (Edits, [Level], [String], String) = ([], [], enclosing, "")
        func visit(_ token: JSONTokens.Token, _ name: String) {
            if token.kind == .number {
                let value = NamedValue(name: name, enclosing: names, text: bytes.text(in: token.range), kind: .number)
                edits += edit(token.range, value)
            } else if let text = newText(NamedValue(name: name, enclosing: names, text: tokens.text(of: token))) {
                edits.append((token.range, text.jsonString))
            }
        }
        do {
            while let token = try tokens.next() {
                switch token.kind {
                case .beginObject, .beginArray:
                    levels.append(Level(name: name))
                    if !name.isEmpty { names.append(name) }
                case .endObject, .endArray:
                    guard let level = levels.popLast() else { break }
                    for value in level.values { visit(value, level.nameOfValue ?? "value") }
                    if !level.name.isEmpty { names.removeLast() }
                case .name:
                    name = tokens.text(of: token)
                    _ = replacement(NamedValue(name: name, text: name, kind: .key))
                    continue
                case .string, .number:
                    if name == "value", !levels.isEmpty {
                        levels[levels.count - 1].values.append(token)
                    } else {
                        if ["name", "key", "path"].contains(name), token.kind == .string, !levels.isEmpty {
                            levels[levels.count - 1].nameOfValue = tokens.text(of: token)
                        }
                        visit(token, name)
                    }
                case .true, .false, .null: break
                }
                name = levels.last?.name ?? ""
            }
            return edits
        } catch { return nil }
    }

    // MARK: - Markup and other text

    /// The edits in XML, HTML, or any other text.
    func text(_ bytes: [UInt8]) -> Edits {
        let start = bytes.firstWordPlace
        if start < bytes.count, bytes[start] == UInt8(ascii: "<") { return markup(bytes.text) }
        return bytes.has("=") || bytes.has(":") ? pairs(bytes.text) : []
    }

    private static let tag = Expression(#"<!\[CDATA\[|<(/?)([A-Za-z_][\w:.-]*)([^<>]*)>"#)
    private static let attribute = Expression(#"([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')"#)

    private func markup(_ text: String) -> Edits {
        let bytes = Array(text.utf8)
        var (edits, open, names, end): (Edits, [String], [String], Int) = ([], [], [], 0)
        func visit(to place: Int, isData: Bool) {
            let part = end..<place
            guard let first = bytes[part].firstIndex(where: { $0 > 0x20 }), let last = bytes[part].lastIndex(where: { $0 > 0x20 }) else { return }
            let text = bytes.text(in: first..<last + 1)
            let value = NamedValue(name: names.last ?? "", enclosing: names.suffix(32).dropLast(), text: isData ? text : text.decodingHTML)
            edits += edit(first..<last + 1, value, isData ? { $0 } : \.escapedAsHTMLText)
        }
        for match in Self.tag.matches(in: text) where match.whole.start >= end {
            visit(to: match.whole.start, isData: open.last == "script")
            end = match.whole.range(from: 0).upperBound
            guard let element = match[2]?.text.split(separator: ":").last.map(String.init) else {
                guard let close = bytes.firstOffset(of: Array("]]>".utf8), from: end) else { break }
                visit(to: close, isData: true)
                end = close + 3
                continue
            }
            if match[1]?.text == "/" {
                if let place = open.lastIndex(of: element) {
                    open.removeLast(open.count - place)
                    names.removeLast(names.count - place)
                }
                continue
            }
            let attributes = match[3].map { part in Self.attribute.matches(in: part.text).compactMap { Attribute($0, at: part.start) } } ?? []
            let given = attributes.first { ["name", "key", "property", "id"].contains($0.name.lowercased()) }?.value.text.decodingHTML
            for attribute in attributes {
                let isOfName = ["value", "content"].contains(attribute.name.lowercased())
                let value = NamedValue(
                    name: isOfName ? given ?? attribute.name : attribute.name, enclosing: names.suffix(32), text: attribute.value.text.decodingHTML)
                edits += edit(attribute.value.range(from: 0), value, \.escapedAsHTML)
            }
            guard match[3]?.text.hasSuffix("/") != true, !["input", "meta", "br", "img", "link", "hr"].contains(element) else { continue }
            open.append(element)
            names.append(given.flatMap { CredentialNames.match($0) == nil ? nil : $0 } ?? element)
        }
        visit(to: bytes.count, isData: open.last == "script")
        return edits
    }

    private struct Attribute {
        let name: String
        let value: Expression.Match.Part

        init?(_ match: Expression.Match, at start: Int) {
            guard let name = match[1]?.text, var value = match[2] ?? match[3] else { return nil }
            value.start += start
            (self.name, self.value) = (name, value)
        }
    }

    /// `name: value` and `name=value`, with and without quotes, which may have backslashes before them.
    private static let pair = Expression(
        #"([A-Za-z_][\w.\[\]-]*)\\*["']?\s*[=:]\s*(?:(\\*)(["'])(.{0,4096}?)(?:(?<!\\)\2\3|$)|([^\s"'<>&;,()\[\]{}\\]+)(?![(\w]))"#)

    private func pairs(_ text: String) -> Edits {
        return Self.pair.matches(in: text).flatMap { match -> Edits in
            guard let name = match[1]?.text, let part = match[4] ?? match[5] else { return [] }
            let plain = part.text.decodingHTML.decodingJSON
            // A word without quotes may be a part of a sentence.
            guard match[4] != nil || !plain.isCommon || Double(plain) != nil else { return [] }
            let isNumber = match[5] != nil && Double(plain) != nil
            let value = NamedValue(name: name, text: plain.removingPercentEncoding ?? plain, kind: isNumber ? .number : .text)
            return edit(part.range(from: 0), value, match[4] == nil ? \.escapedAsValue : \.escapedInJSON)
        }
    }
}

extension Edits {
    fileprivate func shifted(by offset: Int) -> Edits {
        map { ($0.range.lowerBound + offset..<$0.range.upperBound + offset, $0.text) }
    }
}

extension String {
    /// Whether a body of this media type comes line by line.
    var isStreamOfLines: Bool {
        ["text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq"].contains(self)
    }
}
