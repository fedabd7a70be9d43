import APIProvider
package import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

extension Lines {
    /// Reads a body by its media type or, without a useful one, by its content. An empty body has no lines.
    ///
    /// A body that breaks its notation counts as text, or else as bytes.
    ///
    /// - Parameter type: The `Content-Type`, with its parameters.
    package init(body: Data, type: String) {
        let mediaType = type.mediaType
        if mediaType.hasPrefix("multipart/"), let parts = Multipart(body, type: type) {
            self.init(parts)
        } else if mediaType == "application/x-www-form-urlencoded" || mediaType.isEmpty && body.looksLikeForm {
            self.init(form: body)
        } else if let json = Lines(json: body), mediaType.hasSuffix("json") || json.isTree {
            self = json
        } else if mediaType.hasSuffix("xml"), let xml = Lines(xml: body) {
            self = xml
        } else if let text = body.text(of: type) {
            self.init(body.isEmpty ? [:] : ["": [Value(kind: .text, text: text, range: 0..<body.count)]])
        } else {
            self.init(["": [Value(kind: .bytes, text: body.base64EncodedString(), range: 0..<body.count)]])
        }
    }

    /// Whether the body is an object or an array.
    var isTree: Bool { values[""]?.first?.kind == .object || values[""]?.first?.kind == .array }
}

extension Data {
    /// The text, in the charset of the `Content-Type` or else in UTF-8; `nil` for binary data.
    fileprivate func text(of type: String) -> String? {
        var parameters = type[...]
        let charset = parameters.takeParameters().first { $0.name == "charset" }?.value.lowercased()
        let encoding = charset.flatMap { String.Encoding(charset: $0, of: self) } ?? .utf8
        let text = encoding == .utf8 ? String(utf8: self) : String(data: self, encoding: encoding)
        return text.flatMap { $0.utf8.contains(0) ? nil : $0 }
    }

    /// Whether the body looks like a form: pairs without white space or other notations' marks.
    var looksLikeForm: Bool { contains(UInt8(ascii: "=")) && !contains { $0 <= 0x20 || "<>{}\"".utf8.contains($0) } }
}

// MARK: - JSON

extension Lines {
    private struct NestedTooDeep: Error {}

    /// On Apple's systems, deeper nesting would overflow a thread's small stack.
    fileprivate static let maximumDepth = 100

    /// Reads JSON (RFC 8259) in UTF-8 or UTF-16; `nil` for invalid JSON or more than 100 levels.
    package init?(json data: Data) {
        // UTF-16 has a NUL beside each ASCII character.
        let hasMark = data.starts(with: [0xFE, 0xFF]) || data.starts(with: [0xFF, 0xFE])
        let encoding: String.Encoding =
            hasMark ? .utf16 : !data.prefix(4).contains(0) ? .utf8 : data.first == 0 ? .utf16BigEndian : .utf16LittleEndian
        guard let text = String(data: data, encoding: encoding) else { return nil }
        var tokens = JSONTokens(encoding == .utf8 ? data : Data(text.utf8))
        var values: [String: [Value]] = [:]
        values.reserveCapacity(min(tokens.bytes.count { $0 == UInt8(ascii: ",") } * 2, tokens.bytes.count / 16))
        do {
            guard let first = try tokens.next() else { return nil }
            try Self.read(first, &tokens, at: "", into: &values)
            guard try tokens.next() == nil else { return nil }
        } catch {
            return nil
        }
        self.init(values)
    }

    /// Reads the value that begins with `token`.
    private static func read(
        _ token: JSONTokens.Token, _ tokens: inout JSONTokens, at place: String, into values: inout [String: [Value]]
    ) throws {
        guard tokens.depth <= maximumDepth else { throw NestedTooDeep() }
        let (kind, text): (Value.Kind, String)
        switch token.kind {
        case .beginObject:
            (kind, text) = (.object, "")
            while let name = try tokens.next(), name.kind == .name, let value = try tokens.next() {
                try read(value, &tokens, at: place.member(tokens.text(of: name)), into: &values)
            }
        case .beginArray:
            var count = 0
            while let element = try tokens.next(), element.kind != .endArray {
                try read(element, &tokens, at: place.element(count), into: &values)
                count += 1
            }
            (kind, text) = (.array, "\(count)")
        case .string, .name: (kind, text) = (.text, tokens.text(of: token))
        case .number: (kind, text) = (.number, String(decoding: tokens.bytes[token.range], as: UTF8.self))
        // No bracket ends here: `next()` throws if brackets do not match.
        case .true, .false, .null, .endObject, .endArray:
            (kind, text) = (.literal, String(decoding: tokens.bytes[token.range], as: UTF8.self))
        }
        values[place, default: []].append(Value(kind: kind, text: text, range: token.range))
    }
}

// MARK: - Forms

extension Lines {
    /// Reads a form (`application/x-www-form-urlencoded`).
    init(form body: Data) {
        let text = String(decoding: body, as: UTF8.self)
        var values: [String: [Value]] = [:]
        for (name, value, range) in text[...].utf8.formItems {
            let start = text.utf8.distance(from: text.startIndex, to: range.lowerBound)
            let end = text.utf8.distance(from: text.startIndex, to: range.upperBound)
            values[name.uniqueSpelling, default: []].append(Value(kind: .text, text: value, range: start..<end))
        }
        self.init(values)
    }

    /// Reads the parts of a `multipart/form-data` body. A part's place is the name, or else the number. Inside are the file name and each
    /// header field but `Content-Disposition` and `Content-Length`.
    init(_ multipart: Multipart) {
        var values: [String: [Value]] = [:]
        for (index, part) in multipart.parts.enumerated() {
            let place = part.name.map { "".member($0) } ?? "".element(index)
            for (name, value) in part.fields where name != "content-length" {
                values[place.member(name), default: []].append(Value(kind: .text, text: value))
            }
            if part.content.isEmpty { values[place, default: []].append(Value(kind: .text, text: "", range: part.range)) }
            for (inner, found) in Lines(body: part.content, type: part.type ?? "text/plain").values {
                values[place.appending(inner), default: []] += found.map { value in
                    let range = value.range.map { $0.lowerBound + part.range.lowerBound..<$0.upperBound + part.range.lowerBound }
                    return Value(kind: value.kind, text: value.text, range: range)
                }
            }
        }
        self.init(values)
    }
}

// MARK: - XML

extension Lines {
    /// Reads XML elements. A second element with the same name gets a number: `item`, `item[1]`. An attribute is at `item@id`. White space
    /// around text, comments, and the order of differently named elements do not count. `nil` for anything but XML in UTF-8, for a document
    /// type declaration, and for more than 100 levels.
    init?(xml body: Data) {
        // Declared entities may take minutes to resolve.
        guard let text = String(data: body, encoding: .utf8), !text.hasScalars("<!DOCTYPE") else { return nil }
        let parser = XMLParser(data: body)
        let reader = XMLReader()
        parser.delegate = reader
        // On Linux, the parser returns true for an incomplete body.
        guard parser.parse(), !reader.hasFailed else { return nil }
        self.init(reader.values)
    }
}

private final class XMLReader: NSObject, XMLParserDelegate {
    private(set) var values: [String: [Lines.Value]] = [:]
    private(set) var hasFailed = false
    /// The open elements: place, text, and the number of child elements by place.
    private var open: [(place: String, text: String, counts: [String: Int])] = [("", "", [:])]

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
    ) {
        let last = open.count - 1
        guard last < Lines.maximumDepth else { return parser.abortParsing() }
        let member = open[last].place.member(name)
        let index = open[last].counts[member, default: 0]
        open[last].counts[member] = index + 1
        let place = index == 0 ? member : member.element(index)
        for (name, value) in attributes { values["\(place)@\(name.uniqueSpelling)"] = [Lines.Value(kind: .text, text: value)] }
        open.append((place, "", [:]))
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) { hasFailed = true }

    func parser(_ parser: XMLParser, foundCharacters text: String) { open[open.count - 1].text += text }

    func parser(_ parser: XMLParser, foundCDATA data: Data) { open[open.count - 1].text += String(decoding: data, as: UTF8.self) }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard let element = open.popLast() else { return }
        let text = element.text.trimmingCharacters(in: .whitespacesAndNewlines)
        if element.counts.isEmpty || !text.isEmpty { values[element.place] = [Lines.Value(kind: .text, text: text)] }
    }
}
