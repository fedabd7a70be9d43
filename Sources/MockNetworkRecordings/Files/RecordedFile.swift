import APIProvider
import APIProviderMocks
import Foundation

/// A HAR 1.2 file, of a recording or of another program.
///
/// http://www.softwareishard.com/blog/har-12-spec/. Programs that write HAR files differ, so the reader is lenient: an entry that
/// cannot be read does not keep the others from answering.
struct RecordedFile: Sendable {
    struct Entry: Sendable {
        var exchange: RecordedExchange
        /// Such as `search.har: log.entries[3]`.
        let entryPath: String
        /// The reason why it answers no request; `nil` if it can be read.
        var problem: String?
        /// The reason why it has no response to answer with; `nil` if it has one.
        var responseProblem: String?
    }

    /// In the order in which the requests were sent.
    var entries: [Entry] = []
    var placeholders = Placeholders([:])
    /// The test that the recording belongs to; `nil` in a file of another program.
    var test: String?
    var isFromOtherProgram = false

    /// Reads the content of a file. Throws an error with one sentence that begins with the name of the file.
    init(_ data: Data, name: String) throws {
        guard !data.isEmpty else { throw MockFailure("\(name): the file is empty.") }
        guard let json = try? JSONTree(data) else { throw MockFailure("\(name), \(Self.reasonForNoJSON(data)).") }
        guard case .object = json else { throw MockFailure("\(name): expected an object at the top level, found \(json.kind).") }
        guard let log = json["log"] else { throw MockFailure("\(name): this is not a HAR file, because it has no \"log\".") }
        guard let elements = log["entries"] else { throw MockFailure("\(name): log.entries is missing.") }
        guard case .array(let list) = elements else {
            throw MockFailure("\(name): expected an array at log.entries, found \(elements.kind).")
        }
        test = log["_test"]?.text
        isFromOtherProgram = log["_names"] == nil
        if case .object(let members)? = log["_names"] {
            placeholders = Placeholders(
                Dictionary(members.compactMap { key, value in Secret.Origin(rawValue: value.text ?? "").map { (key.description, $0) } }) {
                    $1
                })
        }
        let read = list.enumerated().compactMap { Entry($1, at: "log.entries[\($0)]", in: name) }
        // By time, as the format says, and as they stand where that is the same.
        entries = read.enumerated().sorted { ($0.element.exchange.started, $0.offset) < ($1.element.exchange.started, $1.offset) }.map(
            \.element)
        if isFromOtherProgram { replaceSecretsOfRequests() }
    }

    init(contentsOf file: URL) throws {
        guard let data = try? Data(contentsOf: file) else {
            throw MockFailure("\(file.lastPathComponent): it cannot be read (\(file.path)).")
        }
        try self.init(data, name: file.lastPathComponent)
    }

    private static func reasonForNoJSON(_ data: Data) -> String {
        let lines = String(decoding: data, as: UTF8.self).split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        if let conflict = lines.firstIndex(where: { $0.hasPrefix("<<<<<<< ") }) {
            return "line \(conflict + 1): there is an unresolved merge conflict"
        }
        var tokens = JSONTokens(data)
        while (try? tokens.next()) != nil {}
        let line = tokens.bytes[..<min(tokens.position, tokens.bytes.count)].count { $0 == 0x0A } + 1
        return "line \(line): this is not JSON\(lines.first?.hasPrefix("<") == true ? ", but HTML or XML" : "")"
    }

    /// In a file of another program, secrets of requests match any text.
    private mutating func replaceSecretsOfRequests() {
        var exchanges = entries.map(\.exchange)
        let ends = exchanges.indices.flatMap { index in
            [(exchanges[index].started, index, false), (exchanges[index].started + exchanges[index].duration, index, true)]
        }
        for (order, event) in ends.sorted(by: { ($0.0, $0.1, $0.2 ? 1 : 0) < ($1.0, $1.1, $1.2 ? 1 : 0) }).enumerated() {
            if event.2 { exchanges[event.1].order.end = order } else { exchanges[event.1].order.begin = order }
        }
        let replacer = SecretReplacer(exchanges, SecretNames(), ignoring: SecretNames())
        for (index, exchange) in replacer.rewritten({ $1.origin == .request ? $1.replacement : nil }).enumerated() {
            entries[index].exchange = exchange
        }
        placeholders = Placeholders(replacer.replacedSecrets.filter { $0.origin == .request })
    }
}

// MARK: - Reading an entry

extension RecordedFile.Entry {
    fileprivate struct Problem: Error { let text: String }

    /// `nil` for what no HTTP request gets: WebSockets, which start with the status 101, and `data:` URLs.
    fileprivate init?(_ json: JSONTree, at path: String, in file: String) {
        entryPath = "\(file): \(path)"
        exchange = RecordedExchange(method: "", url: "")
        exchange.started = json["startedDateTime"]?.text.flatMap(Date.init(iso8601:)) ?? .distantPast
        exchange.duration = (json["time"]?.double ?? 0) / 1000
        do {
            guard case .object = json else { throw Problem(text: "expected an object at \(path), found \(json.kind)") }
            let request = try json.value("request", at: path)
            exchange.method = try request.string("method", at: "\(path).request").uppercased()
            exchange.url = try request.string("url", at: "\(path).request")
            guard let url = URL(string: exchange.url.escapedAsURL), let scheme = url.scheme?.lowercased() else {
                throw Problem(text: "this is not a URL at \(path).request.url")
            }
            guard ["http", "https"].contains(scheme) else { return nil }
            guard url.host?.isEmpty == false else { throw Problem(text: "the URL has no host at \(path).request.url") }
            exchange.url = String(exchange.url.prefix { $0 != "#" })
            exchange.headers = request["headers"]?.fields ?? []
            exchange.body = Self.body(of: request, exchange.method)
            takeHeadersOfBody()
            if exchange.type.isEmpty, let type = request["postData"]?["mimeType"]?.text, !type.isEmpty {
                exchange.headers.append(.init(name: "Content-Type", value: type))
            }
        } catch {
            problem = "its request cannot be read: \((error as? Problem)?.text ?? "\(error)")."
            return
        }
        do {
            guard let response = json["response"], response != .null else { throw Problem(text: "the recording has no response") }
            try read(response, at: "\(path).response")
            if exchange.response?.status == 101 { return nil }
        } catch {
            responseProblem = (error as? Problem)?.text ?? "\(error)"
        }
    }

    /// `nil` if the file does not say what it was.
    private static func body(of request: JSONTree, _ method: String) -> [UInt8]? {
        let size = request["bodySize"]?.double
        guard let data = request["postData"], data != .null else {
            // Some programs do not say that there is no body.
            return size == 0 || ["GET", "HEAD"].contains(method) && size ?? -1 < 1 ? [] : nil
        }
        guard let text = data["text"]?.text, !text.isEmpty else {
            let fields = data["params"]?.fields ?? []
            guard !fields.isEmpty, data["mimeType"]?.text?.mediaType == "application/x-www-form-urlencoded" else {
                // WebPagetest saves no bodies, and says neither a type nor a size.
                let isUnknown = size == -1 && data["mimeType"]?.text?.isEmpty == true
                return fields.isEmpty && size ?? 0 <= 0 && !isUnknown ? [] : nil
            }
            return Array(fields.map { "\($0.name.escapedAsParam)=\($0.value.escapedAsParam)" }.joined(separator: "&").utf8)
        }
        let isBase64 = (data["_encoding"] ?? data["encoding"])?.text?.lowercased() == "base64"
        return isBase64 ? Data(base64Encoded: text, options: .ignoreUnknownCharacters).map { Array($0) } : Array(text.utf8)
    }

    /// Firebug and Firefox save a form with the headers that belong to it.
    private mutating func takeHeadersOfBody() {
        guard exchange.type.isEmpty, let body = exchange.body, body.starts(with: "Content-".utf8),
            let end = body.firstOffset(of: Array("\r\n\r\n".utf8))
        else { return }
        for line in String(decoding: body[..<end], as: UTF8.self).components(separatedBy: "\r\n") {
            let halves = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if halves.count == 2 { exchange.headers.append(.init(name: halves[0], value: halves[1])) }
        }
        exchange.body = Array(body[(end + 4)...])
    }

    private mutating func read(_ json: JSONTree, at path: String) throws {
        let value = try json.value("status", at: path)
        guard let number = value.double, let status = Int(exactly: number) else {
            throw Problem(text: "expected a number at \(path).status, found \(value.kind)")
        }
        let reason = json["_error"]?.text
        guard status != 0 else {
            exchange.failure = reason ?? "the recording gives no reason"
            return
        }
        guard 100...999 ~= status else { throw Problem(text: "\(status) is not an HTTP status") }
        exchange.failure = reason
        var response = RecordedExchange.Response(status: status, headers: json["headers"]?.fields ?? [], body: [])
        defer { exchange.response = response }
        guard let content = json["content"], content != .null, exchange.method != "HEAD", status != 204, status != 304 else { return }
        if response.value(of: "Content-Type") == nil, let type = content["mimeType"]?.text, type.contains("/") {
            response.headers.append(.init(name: "Content-Type", value: type))
        }
        if case .array(let times)? = content["_times"] { response.times = times.compactMap(\.double) }
        guard let text = content["text"]?.text else {
            guard content["size"]?.double ?? 0 > 0, 200...299 ~= status else { return }
            response.missingBodyReason = "its body was not saved; export the recording with the bodies of responses"
            return
        }
        let encoding = content["encoding"]?.text?.lowercased() ?? ""
        let isBinary = encoding == "base64" || content["_isBinary"] == .bool(true)
        switch encoding {
        case _ where response.isCompressed && text.isCompressed(isBinary: isBinary):
            throw Problem(text: "its body was saved compressed; record it without Accept-Encoding, or save it decompressed")
        case "" where isBinary:
            guard let data = Data(hex: text) else { throw Problem(text: "these are not hexadecimal digits at \(path).content.text") }
            response.body = Array(data)
        case "", "utf-8", "utf8": response.body = Array(text.utf8)
        case "base64":
            // Charles adds line breaks.
            guard let data = Data(base64Encoded: text) ?? Data(base64Encoded: text.filter { !$0.isWhitespace }) else {
                throw Problem(text: "this is not Base64 at \(path).content.text")
            }
            response.body = Array(data)
        default: throw Problem(text: "the encoding \"\(encoding)\" is unknown at \(path).content.encoding")
        }
    }
}

extension RecordedExchange.Response {
    fileprivate var isCompressed: Bool { value(of: "Content-Encoding").map { !$0.isField("identity") } ?? false }
}

extension String {
    /// Whether it is a compressed body: gzip in Base64, or chunks in Base64 or as hexadecimal digits, as Polly.JS writes them.
    fileprivate func isCompressed(isBinary: Bool) -> Bool {
        hasPrefix("H4sI") || hasPrefix("[\"H4sI") || hasPrefix("[\"1f8b") || isBinary && hasPrefix("[\"")
    }

    /// The name or value of a field of a form. Some programs escape it, and others do not.
    fileprivate var escapedAsParam: String {
        let isEscaped = utf8.allSatisfy { $0.isLetter || $0.isDigit || "-._~%+*!'()".utf8.contains($0) }
        return (isEscaped ? formDecoded : self).escapedAsValue
    }
}

extension Data {
    /// As Polly.JS writes binary bodies.
    fileprivate init?(hex text: String) {
        let digits = text.utf8.map(\.hexValue)
        guard digits.count % 2 == 0, !digits.contains(nil) else { return nil }
        self.init(stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) })
    }
}

extension JSONTree {
    fileprivate subscript(name: String) -> JSONTree? { if case .object(let members) = self { members[ByteString(name)] } else { nil } }

    fileprivate var text: String? { if case .string(let text) = self { text.description } else { nil } }

    fileprivate var double: Double? { if case .number(let number) = self { Double(number.text) } else { nil } }

    fileprivate func value(_ name: String, at path: String) throws -> JSONTree {
        guard let value = self[name] else { throw RecordedFile.Entry.Problem(text: "\(path).\(name) is missing") }
        return value
    }

    fileprivate func string(_ name: String, at path: String) throws -> String {
        let value = try value(name, at: path)
        guard let text = value.text else {
            throw RecordedFile.Entry.Problem(text: "expected a string at \(path).\(name), found \(value.kind)")
        }
        return text
    }

    /// Headers, or the fields of a form. A value may be a number or an array; a field without a name is no field.
    fileprivate var fields: [RecordedExchange.Field] {
        guard case .array(let elements) = self else { return [] }
        return elements.flatMap { element -> [RecordedExchange.Field] in
            guard let name = element["name"]?.text, !name.isEmpty, let value = element["value"] else { return [] }
            let values = if case .array(let values) = value { values } else { [value] }
            return values.compactMap { value in
                switch value {
                case .string(let text): RecordedExchange.Field(name: name, value: text.description)
                case .number(let number): RecordedExchange.Field(name: name, value: number.text)
                case .bool(let value): RecordedExchange.Field(name: name, value: "\(value)")
                default: nil
                }
            }
        }
    }
}

extension Date {
    /// With or without a fraction of a second.
    init?(iso8601 text: String) {
        let formats = [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()]
        guard let date = formats.lazy.compactMap({ try? $0.parse(text) }).first else { return nil }
        self = date
    }
}
