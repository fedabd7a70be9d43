@_spi(Transports) import APIProvider
import APIProviderMocks
import Foundation

extension HARFile {
    /// Reads a file.
    ///
    /// - Throws: An error with one sentence, beginning with `name`.
    init(_ data: Data, name: String) throws {
        guard let root = try? JSONSerialization.jsonObject(with: data.escapingByteOrderMarks) else {
            var tokens = JSONTokens(data)
            do { while try tokens.next() != nil {} } catch {
                let line = tokens.bytes.prefix(tokens.position).count { $0 == 0x0A } + 1
                throw MockFailure("\(name), line \(line): this is not JSON.")
            }
            // Half a surrogate pair, for example, is valid JSON, and no text (RFC 8259, section 8.2).
            throw MockFailure("\(name): a text in it is not Unicode.")
        }
        let log = Member(value: (root as? [String: Any])?["log"], path: "\(name): log")
        (self.data, test) = (data, log["_test"].text)
        // Without its placeholders, a recording would count as another program's file.
        let places: [String: String]? = try test == nil && log["_placeholders"].value == nil ? nil : log["_placeholders"].required()
        placeholders = places.map { Placeholders($0.mapValues { Set($0.components(separatedBy: "; ")).subtracting([""]) }) }
        entries = try log["entries"].elements.compactMap(Entry.init)
    }
}

extension Data {
    /// JSON with an escape for each U+FEFF in a text. On Linux, JSONSerialization drops one at a text's beginning, and behind each escape.
    fileprivate var escapingByteOrderMarks: Data {
        let (mark, escape) = (Array("\u{FEFF}".utf8), Array(#"\uFEFF"#.utf8))
        let json = [UInt8](starts(with: mark) ? dropFirst(mark.count) : self)
        guard json.firstOffset(of: mark) != nil else { return Data(json) }
        let places = json.places(ofAny: "\u{FEFF}").filter { json[$0...].starts(with: mark) }
        return Data(json.applying(places.map { ($0..<$0 + mark.count, escape) }))
    }
}

/// A value of a file, and the place for errors.
private struct Member {
    let value: Any?
    let path: String

    subscript(name: String) -> Member { Member(value: (value as? [String: Any])?[name], path: "\(path).\(name)") }

    var text: String? { value as? String }

    var elements: [Member] {
        get throws { (try required() as [Any]).enumerated().map { Member(value: $1, path: "\(path)[\($0)]") } }
    }

    func required<Value>() throws -> Value {
        guard let value = value as? Value else { throw MockFailure("\(path) is missing, or of another type than in HAR 1.2.") }
        return value
    }
}

// MARK: - Entries

extension HARFile.Entry {
    /// `nil` for what no app's HTTP request gets: WebSockets, `data:` URLs and a proxy's tunnels.
    fileprivate init?(_ entry: Member) throws {
        let (request, response) = (entry["request"], entry["response"])
        let (method, url): (String, String) = (try request["method"].required(), try request["url"].required())
        let (scheme, status) = (URIReference(url).scheme?.lowercased(), response["status"].value as? Int)
        guard scheme == "http" || scheme == "https", method.uppercased() != "CONNECT", status != 101 else { return nil }
        // Proxyman writes methods in lower case. Browsers save a URL as it was sent, such as with raw brackets.
        var exchange = RecordedExchange(
            method: method.uppercased(), url: Array(url.utf8.prefix { $0 != UInt8(ascii: "#") }).text.escapedAsURL)
        exchange.started = entry["startedDateTime"].text.flatMap(Date.init(iso8601:)) ?? .distantPast
        exchange.headers = HTTPHeaders(request["headers"])
        let problemOfBody = exchange.readBody(request["postData"])
        problem = exchange.readResponse(response, status) ?? problemOfBody
        (self.exchange, path) = (exchange, entry.path)
    }
}

extension RecordedExchange {
    /// Returns the reason why the request cannot be compared, if any.
    fileprivate mutating func readBody(_ saved: Member) -> String? {
        if type.isEmpty, let type = saved["mimeType"].text, !type.isEmpty { headers["Content-Type"] = type }
        guard var text = saved["text"].text, !text.isEmpty else {
            let fields = ((try? saved["params"].elements) ?? []).map { [$0["name"], $0["value"]].map { ($0.text ?? "").escapedAsValue } }
            let isForm = type.mediaType == "application/x-www-form-urlencoded"
            if isForm { body = Data(fields.map { $0.joined(separator: "=") }.joined(separator: "&").utf8) }
            return isForm || fields.isEmpty ? nil : "the body of its request was not saved as text"
        }
        // Firefox saves a multipart body behind its headers.
        if type.isEmpty, let head = Self.firefoxHead.matches(in: text).first, let whole = head[0] {
            headers["Content-Type"] = head[1]
            text.removeFirst(whole.count)
        }
        body = saved["_encoding"].text == "base64" ? Data(base64Encoded: text) ?? Data() : Data(text.utf8)
        return nil
    }

    private static let firefoxHead = Expression(#"^Content-Type: (.*)\r\n(?:.+\r\n)*\r\n"#)

    private static let charset = Expression(#"(;\s*charset\s*=\s*)("[^"]*"|[^\s;]+)"#, isCaseSensitive: false)

    /// Returns the reason why the entry cannot answer, if any.
    fileprivate mutating func readResponse(_ saved: Member, _ status: Int?) -> String? {
        guard let status else { return "the recording has no response" }
        failure = saved["_failure"].text
        guard status != 0 else {
            failure = failure ?? saved["_error"].text ?? "the recording gives no reason"
            return nil
        }
        guard 200...999 ~= status else { return "\(status) is not an HTTP status" }
        let content = saved["content"]
        var headers = HTTPHeaders(saved["headers"])
        if headers["Content-Type"] == nil, let type = content["mimeType"].text, type.contains("/") { headers["Content-Type"] = type }
        // The saved body is complete and decompressed.
        let isCompressed = headers["Content-Encoding"].map { !$0.isField("identity") } ?? false
        (headers["Content-Encoding"], headers["Transfer-Encoding"]) = (nil, nil)
        response = .init(statusCode: status, headers: headers, body: Data())
        guard method != "HEAD", status != 204 else { return nil }
        guard let text = content["text"].text else {
            let isMissing = content["size"].value as? Double ?? 0 > 0 && 200...299 ~= status
            return isMissing ? "its body was not saved; export the recording with the bodies of responses" : nil
        }
        let encoding = content["encoding"].text?.lowercased() ?? ""
        guard ["", "utf-8", "utf8", "base64"].contains(encoding) else { return "the encoding \"\(encoding)\" of its body is unknown" }
        // Charles adds line breaks.
        let body = encoding == "base64" ? Data(base64Encoded: text.filter { !$0.isWhitespace }) : Data(text.utf8)
        guard let body else { return "its body is not Base64" }
        if isCompressed, body.starts(with: [0x1F, 0x8B]) { return "its body was saved compressed" }
        // Text is in UTF-8 here, whatever the charset on the wire.
        if encoding != "base64", let type = headers["Content-Type"] {
            headers["Content-Type"] = Self.charset.replacing(in: type) { ($0[1] ?? "") + "utf-8" }
        }
        // A browser's 304 has the cached body.
        response = .init(statusCode: status == 304 && !body.isEmpty ? 200 : status, headers: headers, body: body)
        return nil
    }
}

extension HTTPHeaders {
    /// Joins fields of one name, as Firefox does by line breaks. HTTP/2 splits a Cookie (RFC 9113, section 8.2.3), and chrome-har writes fields
    /// twice. Leaves out HTTP/2's fields such as `:status`.
    fileprivate init(_ fields: Member) {
        self.init()
        for field in (try? fields.elements) ?? [] {
            let (name, text) = (field["name"].text ?? "", field["value"].text ?? "")
            let separator = name.isField("Cookie") ? "; " : ", "
            let value = text.split { ["\n", "\r\n", "\r"].contains($0) }.joined(separator: separator)
            guard (try? HTTPHeaders.check(name, value)) != nil else { continue }
            self[name] = self[name].map { $0.hasSameBytes(as: value) ? value : $0 + separator + value } ?? value
        }
    }
}
