import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension APIResponse {
    /// The server's message for a developer, from a response with a status of 400 or more: the app's `errorMessage`, or else a message from
    /// a few common places. For other places, the app sets `errorMessage`.
    var serverMessage: String? {
        if let errorMessage { return errorMessage }
        guard statusCode >= 400, data.count <= 1_000_000 else { return nil }
        return problem?.message ?? jsonMessage ?? firstTextLine ?? challengeMessage
    }

    /// The server's message for users, if vouched for by the app or by the type of a document written for people.
    var serverUserMessage: String? { errorMessage ?? (400...499 ~= statusCode ? problem?.userMessage : nil) }

    private var mediaType: String { httpResponse.contentType?.mediaType ?? "" }

    // MARK: - The places

    /// The body as problem details (RFC 9457).
    private var problem: ProblemDetails? {
        mediaType == "application/problem+json" ? members.map { ProblemDetails($0) } : nil
    }

    private var members: [String: Any]? {
        guard data.first(where: { ![9, 10, 13, 32].contains($0) }) == UInt8(ascii: "{") else { return nil }
        return try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    }

    /// An OAuth error's text (RFC 6749, section 5.2), or that of the most common members.
    private var jsonMessage: String? {
        guard let members else { return nil }
        if let code = members.text("error"), let text = members.text("error_description") { return "\(code): \(text)" }
        let first = (members["errors"] as? [Any])?.first
        return members.text("message") ?? members.text("error") ?? members.text("detail")
            ?? (members["error"] as? [String: Any])?.text("message") ?? (first as? [String: Any])?.text("message")
    }

    private var firstTextLine: String? {
        guard mediaType == "text/plain", let text = String(data: data, encoding: .utf8) else { return nil }
        let line = text.split(whereSeparator: \.isNewline).lazy.map { $0.trimmingCharacters(in: .whitespaces) }.first { !$0.isEmpty }
        // A line that begins like another format is no message.
        return line.flatMap { "{[<\"".contains($0.prefix(1)) ? nil : $0 }
    }

    /// A challenge's error. The body is then often empty (RFC 6750, section 3).
    private var challengeMessage: String? {
        guard var rest = value(forHTTPHeaderField: "WWW-Authenticate")?[...] else { return nil }
        var values: [String: String] = [:]
        // A challenge's first parameter follows the scheme.
        while !rest.isEmpty {
            for (name, value) in rest.takeParameters() { values[String(name.parts(between: UInt8(ascii: " ")).last ?? "")] = value }
        }
        return [values["error"], values["error_description"]].compactMap { $0 }.joined(separator: ": ").nonblank
    }
}

/// Problem details for HTTP APIs (RFC 9457).
private struct ProblemDetails {
    private let detail: String?
    private let title: String?
    private let hasOwnType: Bool

    init(_ members: [String: Any]) {
        (detail, title) = (members.text("detail"), members.text("title"))
        hasOwnType = (members["type"] as? String).map { !["", "about:blank"].contains($0) } ?? false
    }

    var message: String? { detail ?? title }

    /// Without a type, the title is the status phrase.
    var userMessage: String? { detail ?? (hasOwnType ? title : nil) }
}

extension [String: Any] {
    fileprivate func text(_ name: String) -> String? { (self[name] as? String)?.nonblank }
}
