import Foundation

/// The error message in the body of a response, not redacted.
///
/// It is found under the names of RFC 9457, RFC 6749, JSON:API and GraphQL, and other common ones, in any spelling: `errorMessage` is
/// `error_message`.
struct ServerMessage {
    /// The message about the request as a whole.
    private(set) var summary: String?
    /// The number of the error, unless it is the status, and the messages about at most three parts of the request, each after the name of
    /// its field: `email: has already been taken`.
    private(set) var details: [String] = []
    /// The message that is a sentence for people, and not a code; `nil` if there is none.
    private(set) var userMessage: String?

    /// `nil` if the body says nothing.
    init?(_ response: APIResponse) {
        let (body, type) = (response.data, response.value(forHTTPHeaderField: "Content-Type")?.mediaType ?? "")
        // A larger body is no message, and takes long to read.
        guard !body.isEmpty, body.count <= 1 << 20 else { return nil }
        if let json = try? JSONSerialization.jsonObject(with: body) {
            let members = ErrorMembers(json, status: response.statusCode)
            let (found, parts) = (members.summary, members.details())
            summary = found?.message ?? (parts.isEmpty ? members.code : nil)
            // A reason phrase that stands for the parts says no more than the status.
            if !parts.isEmpty, summary == HTTPStatus.reasonPhrases[response.statusCode] { summary = nil }
            details = [found?.number].compactMap { $0 } + parts.filter { $0 != summary }.unique(3)
            userMessage = members.userMessage
        } else if body.first(where: { !Self.spaces.contains($0) }) == UInt8(ascii: "<") {
            let text = String(decoding: body.prefix(1 << 16), as: UTF8.self)
            summary = text.isHTML(type) ? text.messageOfHTML(besides: response.statusDescription) : text.messageOfXML
        } else if type == "text/plain" {
            summary = String(data: body, encoding: .utf8)?.firstLine
        }
        if summary == nil, details.isEmpty { return nil }
        (summary, details, userMessage) = (summary?.beginning, details.map(\.beginning), userMessage?.beginning)
    }

    /// White space, and the bytes of a byte order mark.
    private static let spaces: [UInt8] = [9, 10, 13, 32, 0xEF, 0xBB, 0xBF]

    /// Whether a body of JSON says itself that it is an error, whatever the status is: `{"ok": false, …}`, or a member `error` or `errors`.
    static func isError(_ body: Data) -> Bool {
        guard body.count <= 1 << 20, let json = try? JSONSerialization.jsonObject(with: body) as? [String: Any] else { return false }
        let members = ErrorMembers(json, status: 200)
        return ["ok", "success"].contains { members[$0] as? Bool == false }
            || ["error", "errors", "errormessage", "errormessages", "errorcode", "errordescription"].contains {
                switch members[$0] {
                case let list as [Any]: !list.isEmpty
                case let value: value is String || value is [String: Any]
                }
            }
    }
}

extension [String] {
    /// The first texts that differ.
    fileprivate func unique(_ count: Int) -> [String] {
        reduce(into: []) { if $0.count < count, !$0.contains($1) { $0.append($1) } }
    }
}

extension String {
    /// The text, or its first 2 KB, without the word that the cut divides: a part of a secret may not look like one. Nobody reads more, and
    /// it takes long to redact.
    fileprivate var beginning: String {
        guard utf8.count > 2048 else { return self }
        let text = String(decoding: utf8.prefix(2048), as: UTF8.self)
        return text[..<(text.lastIndex(where: \.isWhitespace) ?? text.endIndex)] + "…"
    }

    fileprivate var firstLine: String? {
        split(whereSeparator: \.isNewline).lazy.map { $0.trimmingCharacters(in: .whitespaces) }.first { !$0.isEmpty }
    }

    // MARK: - Markup

    fileprivate func isHTML(_ type: String) -> Bool {
        type.contains("html") || prefix(1024).range(of: "<html", options: .caseInsensitive) != nil
    }

    /// The `<pre>` of frameworks, or else the `<title>`, unless it is the status alone.
    fileprivate func messageOfHTML(besides statusDescription: String) -> String? {
        ["pre", "title"].lazy.compactMap { element($0) }.first { $0.caseInsensitiveCompare(statusDescription) != .orderedSame }
    }

    /// The message of S3, Azure and SOAP, after its code if it has one.
    fileprivate var messageOfXML: String? {
        let code = element("code").flatMap { $0.isCode ? "\($0): " : nil } ?? ""
        return ["message", "faultstring", "text", "detail", "title"].lazy.compactMap { element($0) }.first.map { code + $0 }
            ?? element("code")
    }

    /// The first line of the first element of that name, in any case and any namespace, that has text.
    private func element(_ name: String) -> String? {
        let tag = "<(?:[A-Za-z0-9-]+:)?\(name)(?:\\s[^<>]*)?>"
        guard let start = range(of: tag, options: [.regularExpression, .caseInsensitive])?.upperBound else { return nil }
        let rest = self[start...]
        let data = "<![CDATA["
        let content =
            rest.hasPrefix(data) ? rest.dropFirst(data.count).components(separatedBy: "]]>")[0] : rest.prefix { $0 != "<" }.unescaped
        return content.firstLine
    }
}

extension Substring {
    /// The text with the characters that entities of XML stand for.
    fileprivate var unescaped: String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")].reduce(
            String(self)
        ) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }
}
