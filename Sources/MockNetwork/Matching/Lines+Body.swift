import APIProvider
package import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

extension Lines {
    /// Reads a body by its media type or, if that does not say enough, by its look. An empty body has no lines.
    ///
    /// What cannot be read as what it claims to be is text, and what is no text is bytes.
    ///
    /// - Parameter type: The `Content-Type`, with its parameters.
    package init(body: Data, type: String) {
        let mediaType = type.mediaType
        if mediaType.hasPrefix("multipart/"), let parts = Multipart(body, type: type) {
            self.init(parts)
        } else if mediaType == "application/x-www-form-urlencoded" || mediaType.isEmpty && body.looksLikeForm {
            self.init(form: body)
        } else if let json = Lines(json: body), mediaType.hasSuffix("json") || json.values[.whole]?.first?.isContainer == true {
            self = json
        } else if mediaType.hasSuffix("xml"), let xml = Lines(xml: body) {
            self = xml
        } else if !body.isEmpty {
            self.init()
            let text = body.text(of: type).map { Value.Content.text($0) }
            add(Value(text ?? .bytes(body), at: 0..<body.count), at: .whole)
        } else {
            self.init()
        }
    }
}

extension Data {
    /// The text, in the charset of its `Content-Type` or else in UTF-8. `nil` if it is not text.
    fileprivate func text(of type: String) -> String? {
        var parameters = type[...]
        let charset = parameters.takeParameters().first { $0.name == "charset" }?.value.lowercased()
        let encoding = charset.flatMap { String.Encoding(charset: $0, of: self) } ?? .utf8
        return String(data: self, encoding: encoding).flatMap { $0.utf8.contains(0) ? nil : $0 }
    }

    /// Whether it looks like a form: pairs without white space, and without the marks of other notations.
    var looksLikeForm: Bool { contains(UInt8(ascii: "=")) && !contains { $0 <= 0x20 || "<>{}\"".utf8.contains($0) } }
}

// MARK: - JSON

extension Lines {
    private struct NestedTooDeep: Error {}

    /// On Apple's systems, threads have a small stack, which deeper nesting would overflow.
    fileprivate static let maximumDepth = 100

    /// Reads JSON (RFC 8259) in UTF-8 or UTF-16. `nil` if it is no JSON, or is nested more than 100 levels deep.
    package init?(json data: Data) {
        // UTF-16 has a NUL beside each ASCII character.
        let hasMark = data.starts(with: [0xFE, 0xFF]) || data.starts(with: [0xFF, 0xFE])
        let encoding: String.Encoding =
            hasMark ? .utf16 : !data.prefix(4).contains(0) ? .utf8 : data.first == 0 ? .utf16BigEndian : .utf16LittleEndian
        guard let text = String(data: data, encoding: encoding) else { return nil }
        var tokens = JSONTokens(encoding == .utf8 ? data : Data(text.utf8))
        self.init()
        do {
            guard let first = try tokens.next() else { return nil }
            try add(first, of: &tokens, at: .whole)
            guard try tokens.next() == nil else { return nil }
        } catch {
            return nil
        }
    }

    /// Adds the value that begins with `token`.
    private mutating func add(_ token: JSONTokens.Token, of tokens: inout JSONTokens, at place: Place) throws {
        guard tokens.depth <= Self.maximumDepth else { throw NestedTooDeep() }
        let content: Value.Content
        switch token.kind {
        case .beginObject:
            content = .object
            while let name = try tokens.next(), name.kind == .name, let value = try tokens.next() {
                try add(value, of: &tokens, at: place.member(tokens.text(of: name)))
            }
        case .beginArray:
            var count = 0
            while let element = try tokens.next(), element.kind != .endArray {
                try add(element, of: &tokens, at: place.element(count))
                count += 1
            }
            content = .array(count)
        case .string, .name: content = .text(tokens.text(of: token))
        case .number:
            let text = String(decoding: tokens.bytes[token.range], as: UTF8.self)
            content = .number(text, decimal: Value.decimal(text))
        case .true: content = .literal("true")
        case .false: content = .literal("false")
        // Only null comes here: `next()` throws if brackets do not match.
        case .null, .endObject, .endArray: content = .literal("null")
        }
        add(Value(content, at: token.range), at: place)
    }
}

// MARK: - Forms

extension Lines {
    /// Reads a form (`application/x-www-form-urlencoded`).
    package init(form body: Data) {
        self.init()
        let text = String(decoding: body, as: UTF8.self)
        for (name, value, range) in text[...].utf8.formItems {
            let start = text.utf8.distance(from: text.startIndex, to: range.lowerBound)
            let end = text.utf8.distance(from: text.startIndex, to: range.upperBound)
            add(Value(.text(value), at: start..<end), at: Place(name))
        }
    }

    /// Reads the parts of a `multipart/form-data` body. A part is at its name, or at its number if it has none; its file name and each field
    /// of its head but `Content-Disposition` and `Content-Length` are within that place.
    package init(_ multipart: Multipart) {
        self.init()
        for (index, part) in multipart.parts.enumerated() {
            let place = part.name.map { Place.whole.member($0) } ?? Place.whole.element(index)
            if let fileName = part.fileName { add(Value(.text(fileName)), at: place.member("filename")) }
            for (name, value) in part.fields where name != "content-length" { add(Value(.text(value)), at: place.member(name)) }
            if part.content.isEmpty { add(Value(.text("")), at: place) }
            add(Lines(body: part.content, type: part.type ?? "text/plain"), within: place, offset: part.range.lowerBound)
        }
    }
}

// MARK: - XML

extension Lines {
    /// Reads the elements of XML. One that follows another of its name has a number: `item`, `item[1]`. An attribute is at `item@id`. White
    /// space at the ends of a text, comments, and the order of elements with other names do not count. `nil` if it is no XML in UTF-8,
    /// declares a document type, or is nested more than 100 levels deep.
    package init?(xml body: Data) {
        // Entities that a document type declares may take minutes to resolve.
        guard let text = String(data: body, encoding: .utf8), !text.contains("<!DOCTYPE") else { return nil }
        let parser = XMLParser(data: body)
        let reader = XMLReader()
        parser.delegate = reader
        // On Linux, the parser returns true for a body that ends too early.
        guard parser.parse(), !reader.hasFailed else { return nil }
        self = reader.lines
    }
}

private final class XMLReader: NSObject, XMLParserDelegate {
    private(set) var lines = Lines()
    private(set) var hasFailed = false
    /// The elements that are open: the place of each, its text, and how many elements of each name it has.
    private var open: [(place: Place, text: String, counts: [String: Int])] = [(.whole, "", [:])]

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
    ) {
        let last = open.count - 1
        guard last < Lines.maximumDepth else {
            hasFailed = true
            return parser.abortParsing()
        }
        let index = open[last].counts[name, default: 0]
        open[last].counts[name] = index + 1
        let member = open[last].place.member(name)
        let place = index == 0 ? member : member.element(index)
        for (name, value) in attributes { lines.add(.init(.text(value)), at: Place("\(place)@\(name)")) }
        open.append((place, "", [:]))
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) { hasFailed = true }

    func parser(_ parser: XMLParser, foundCharacters text: String) { open[open.count - 1].text += text }

    func parser(_ parser: XMLParser, foundCDATA data: Data) { open[open.count - 1].text += String(decoding: data, as: UTF8.self) }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard let element = open.popLast() else { return }
        let text = element.text.trimmingCharacters(in: .whitespacesAndNewlines)
        if element.counts.isEmpty || !text.isEmpty { lines.add(.init(.text(text)), at: element.place) }
    }
}
