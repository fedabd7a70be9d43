import APIProvider
import Foundation

/// A request and its response, as they went over the network or stand in a file.
struct RecordedExchange: Sendable {
    struct Field: Sendable, Equatable {
        var name: String
        var value: String
    }

    struct Response: Sendable {
        var status: Int
        var headers: [Field]
        /// Decompressed.
        var body: [UInt8]
        /// When each line of a stream came, in milliseconds since the head.
        var times: [Double]?
        /// The reason why the file has no body, though it should; `nil` if it has it.
        var missingBodyReason: String?

        func value(of name: String) -> String? { headers.value(of: name) }
    }

    var method: String
    var url: String
    var headers: [Field] = []
    /// Empty if there is none; `nil` if a file does not say.
    var body: [UInt8]? = []
    /// `nil` if there was none.
    var response: Response?
    /// The reason why the response is missing, or broke off.
    var failure: String?
    var started = Date()
    /// In seconds.
    var duration = 0.0
    /// The places of the request and of the end of its response among all events of a recording.
    var order = (begin: 0, end: 0)
    /// Texts that the program calls secret.
    var programSecrets: [String] = []

    /// The app no longer waited: in replay, the response never ends.
    static let abandoned = "given up"

    var type: String { headers.value(of: "Content-Type") ?? "" }

    /// The method, and the URL without its query and its user.
    var requestSummary: String {
        let text = URLText(url)
        return "\(method) \(text.scheme.map { "\($0)://\(text.hostAndPort)" } ?? "")\(text.path)"
    }
}

extension RecordedExchange {
    init(_ request: PreparedRequest) {
        // The format leaves fragments out.
        self.init(method: request.method.rawValue, url: String(request.url.absoluteString.prefix { $0 != "#" }))
        headers = .init(request.headers.dictionary)
        body = request.body.map { (try? $0.data()).map { Array($0) } } ?? []
        programSecrets = request.secrets.hiddenTexts
    }
}

extension [RecordedExchange] {
    /// The requests and the responses in their order.
    var events: [(exchange: Int, isResponse: Bool)] {
        indices.flatMap { [(self[$0].order.begin, $0, false), (self[$0].order.end, $0, true)] }
            .sorted { ($0.0, $0.2 ? 1 : 0, $0.1) < ($1.0, $1.2 ? 1 : 0, $1.1) }.map { ($0.1, $0.2) }
    }
}

extension [RecordedExchange.Field] {
    init(_ fields: [String: String]) { self = fields.sortedByName.map { Element(name: $0.name, value: $0.value) } }

    func value(of name: String) -> String? { first { $0.name.isField(name) }?.value }
}

extension [UInt8] {
    /// The text of a body in another encoding than UTF-8, for finding secrets in it; `nil` if it is UTF-8, or no text.
    ///
    /// The encoding is known by a byte order mark, by the NULs of UTF-16, or by the charset of the type. Other text is read as Latin-1, in
    /// which the ASCII characters of most encodings can be read.
    func textInOtherEncoding(type: String) -> [UInt8]? {
        guard !isUTF8, count > 1 else { return nil }
        let (type, mediaType) = (type.lowercased(), type.mediaType)
        let charset = type.range(of: "charset=").map { range in
            type[range.upperBound...].prefix { $0 != ";" }.trimmingCharacters(in: ["\"", "'", " "])
        }
        let isText =
            charset != nil || mediaType.hasPrefix("text/")
            || ["json", "xml", "javascript", "urlencoded"].contains(where: mediaType.hasSuffix)
        // Without a type, it is text if it begins as JSON or XML does: a video may begin with a NUL.
        let beginsAsText = isText || prefix(4).contains { "{[<\"".utf8.contains($0) }
        let encoding =
            encodingOfMark ?? (beginsAsText ? encodingOfNULs : nil)
            ?? charset.flatMap { String.Encoding(charset: $0, of: Data(self)) }
        let width = [.utf32, .utf32BigEndian, .utf32LittleEndian].contains(encoding) ? 4 : encoding == nil || !contains(0) ? 1 : 2
        let text = encoding.flatMap { String(data: Data(prefix(count / width * width)), encoding: $0) }
        return (text ?? (beginsAsText ? String(data: Data(self), encoding: .isoLatin1) : nil)).map { Array($0.utf8) }
    }

    /// The encoding that a byte order mark tells.
    private var encodingOfMark: String.Encoding? {
        if starts(with: [0xFF, 0xFE, 0, 0]) || starts(with: [0, 0, 0xFE, 0xFF]) { return .utf32 }
        return starts(with: [0xFE, 0xFF]) || starts(with: [0xFF, 0xFE]) ? .utf16 : nil
    }

    /// The encoding of text that has NULs around its ASCII characters.
    private var encodingOfNULs: String.Encoding? {
        // A quarter of them at least: a NUL may stand in other text by chance.
        let start = prefix(64)
        guard let place = start.firstIndex(of: 0), start.count(where: { $0 == 0 }) * 4 >= start.count else { return nil }
        if prefix(4).count(where: { $0 == 0 }) == 3 { return self[0] == 0 ? .utf32BigEndian : .utf32LittleEndian }
        return place.isMultiple(of: 2) ? .utf16BigEndian : .utf16LittleEndian
    }

    /// Whether these are text in UTF-8. Text has no NUL: UTF-16 has.
    var isUTF8: Bool { !contains(0) && String(validatingUTF8Bytes: self) != nil }

    /// Whether a body without a type may be a form.
    var looksLikeForm: Bool { contains(UInt8(ascii: "=")) && !contains { $0 <= 0x20 || "<>{}\"".utf8.contains($0) } }
}

extension String {
    fileprivate init?(validatingUTF8Bytes bytes: [UInt8]) {
        guard let text = String(data: Data(bytes), encoding: .utf8), text.utf8.count == bytes.count else { return nil }
        self = text
    }
}

extension String {
    /// Whether a body of this media type comes line by line.
    var isStreamOfLines: Bool {
        ["text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq"].contains(self)
    }
}

// MARK: - Failures

private let prefix = "URLError "

extension Error {
    /// The reason why a recorded request had no response, as text without secrets: `URLError -1001`, or the name of another error's type.
    var recordedReason: String {
        let error = (self as? APIError)?.urlError ?? (self as? APIError)?.underlying ?? self
        return (error as? URLError).map { "\(prefix)\($0.code.rawValue)" } ?? "\(type(of: error))"
    }
}

extension URLError {
    /// The error in replay. The reason may be a browser's.
    init(recordedReason reason: String) {
        let number = reason.hasPrefix(prefix) ? Int(reason.dropFirst(prefix.count)) : nil
        let code = number.flatMap { Code(rawValue: $0) as Code? } ?? .unknown
        let userInfo = code == .unknown ? [NSLocalizedDescriptionKey: "there was no response when this was recorded: \(reason)"] : [:]
        self.init(code, userInfo: userInfo)
    }
}
