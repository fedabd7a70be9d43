import APIProvider
import APIProviderMocks
import Foundation

extension HARFile.Entry {
    init(_ exchange: RecordedExchange) {
        startedDateTime = exchange.started.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let (text, encoding) = exchange.body.harText
        request = HARFile.Request(
            method: exchange.method, url: exchange.url, headers: exchange.headers.harFields,
            queryString: [URLQueryItem](form: URIReference(exchange.url).query ?? "").map { .init(name: $0.name, value: $0.value ?? "") },
            postData: exchange.body.isEmpty ? nil : .init(mimeType: exchange.type, text: text, _encoding: encoding),
            bodySize: Double(exchange.body.count))
        guard let answer = exchange.response else {
            response = HARFile.Response(
                status: 0, headers: [], content: .init(size: 0, mimeType: "x-unknown", text: ""),
                _failure: exchange.failure ?? RecordedExchange.left)
            return
        }
        let (content, contentEncoding) = answer.body.harText
        response = HARFile.Response(
            status: answer.statusCode, statusText: HTTPStatus.reasonPhrases[answer.statusCode] ?? "", headers: answer.headers.harFields,
            content: .init(size: Double(answer.body.count), mimeType: answer.type, text: content, encoding: contentEncoding),
            redirectURL: answer.headers["Location"] ?? "", _failure: exchange.failure)
    }

    /// What it says of a request and its response, and the reason why it cannot answer. `nil` for what no HTTP request of an app gets:
    /// WebSockets, `data:` URLs and the tunnels of a proxy.
    func exchange() -> (exchange: RecordedExchange, problem: String?)? {
        let scheme = URIReference(request.url).scheme?.lowercased()
        guard scheme == "http" || scheme == "https", request.method.uppercased() != "CONNECT", response?.status != 101 else { return nil }
        // Proxyman writes methods in lower case.
        var exchange = RecordedExchange(method: request.method.uppercased(), url: String(request.url.prefix { $0 != "#" }))
        exchange.started = startedDateTime.flatMap(Date.init(iso8601:)) ?? .distantPast
        exchange.headers = HTTPHeaders(har: request.headers ?? [])
        let problemOfBody = request.readBody(into: &exchange)
        guard let response else { return (exchange, "the recording has no response") }
        let problem = response.read(into: &exchange)
        return (exchange, problem ?? problemOfBody)
    }
}

extension HARFile.Request {
    /// Returns the reason why it cannot be compared; `nil` if it can.
    fileprivate func readBody(into exchange: inout RecordedExchange) -> String? {
        guard let postData else { return nil }
        if exchange.type.isEmpty, let type = postData.mimeType, !type.isEmpty { exchange.headers["Content-Type"] = type }
        guard let text = postData.text, !text.isEmpty else {
            let fields = (postData.params ?? []).map { "\($0.name.escapedAsValue)=\(($0.value ?? "").escapedAsValue)" }
            let isForm = exchange.type.mediaType == "application/x-www-form-urlencoded"
            if isForm { exchange.body = Data(fields.joined(separator: "&").utf8) }
            return isForm || fields.isEmpty ? nil : "the body of its request was not saved as text"
        }
        exchange.body = postData._encoding == "base64" ? Data(base64Encoded: text) ?? Data() : Data(text.utf8)
        guard exchange.type.isEmpty, text.hasPrefix("Content-"), let end = text.range(of: "\r\n\r\n") else { return nil }
        // Firefox saves a form with the headers that belong to it.
        for line in text[..<end.lowerBound].components(separatedBy: "\r\n") {
            let halves = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if halves.count == 2 { exchange.headers[halves[0]] = halves[1] }
        }
        exchange.body = Data(text[end.upperBound...].utf8)
        return nil
    }
}

extension HARFile.Response {
    /// Returns the reason why it cannot answer; `nil` if it can.
    fileprivate func read(into exchange: inout RecordedExchange) -> String? {
        guard status != 0 else {
            exchange.failure = _failure ?? _error ?? "the recording gives no reason"
            return nil
        }
        guard 200...999 ~= status else { return "\(status) is not an HTTP status" }
        exchange.failure = _failure
        var headers = HTTPHeaders(har: headers ?? [])
        if headers["Content-Type"] == nil, let type = content?.mimeType, type.contains("/") { headers["Content-Type"] = type }
        // The body in the file is complete and decompressed.
        let isCompressed = headers["Content-Encoding"].map { !$0.isField("identity") } ?? false
        (headers["Content-Encoding"], headers["Transfer-Encoding"]) = (nil, nil)
        exchange.response = .init(statusCode: status, headers: headers, body: Data())
        guard exchange.method != "HEAD", status != 204, let content else { return nil }
        guard let text = content.text else {
            guard content.size ?? 0 > 0, 200...299 ~= status else { return nil }
            return "its body was not saved; export the recording with the bodies of responses"
        }
        let encoding = content.encoding?.lowercased() ?? ""
        guard ["", "utf-8", "utf8", "base64"].contains(encoding) else { return "the encoding \"\(encoding)\" of its body is unknown" }
        // Charles adds line breaks.
        let body = encoding == "base64" ? Data(base64Encoded: text.filter { !$0.isWhitespace }) : Data(text.utf8)
        guard let body else { return "its body is not Base64" }
        if isCompressed, body.starts(with: [0x1F, 0x8B]) { return "its body was saved compressed" }
        // A browser's 304 has the body of its cache.
        exchange.response = .init(statusCode: status == 304 && !body.isEmpty ? 200 : status, headers: headers, body: body)
        return nil
    }
}

extension HTTPHeaders {
    /// Fields of one name are joined. Firefox joins them by line breaks. HTTP/2 has fields such as `:status`, which are left out.
    fileprivate init(har fields: [HARFile.Field]) {
        self.init()
        for field in fields {
            let value = (field.value ?? "").split(whereSeparator: \.isNewline).joined(separator: ", ")
            guard (try? HTTPHeaders.check(field.name, value)) != nil else { continue }
            self[field.name] = self[field.name].map { "\($0), \(value)" } ?? value
        }
    }

    fileprivate var harFields: [HARFile.Field] { dictionary.sortedByName.map { .init(name: $0.name, value: $0.value) } }
}

extension Data {
    /// The body as a HAR file has it.
    fileprivate var harText: (text: String, encoding: String?) {
        [UInt8](self).isUTF8 ? (String(decoding: self, as: UTF8.self), nil) : (base64EncodedString(), "base64")
    }
}
