import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension APIResponse {
    /// The server's message for a developer, from a response with a status of 400 or more: the text of the app's `errorMessage`, or else
    /// the first of a few places that has one. Other places are the app's to name.
    var serverMessage: String? {
        if let errorMessage { return errorMessage }
        guard statusCode >= 400, data.count <= 1_000_000 else { return nil }
        return problem?.message ?? jsonMessage ?? firstLineOfText ?? challengeMessage
    }

    /// The server's message for people, where somebody vouches for it: the app, or the type of a document that is written for people.
    var userMessageOfServer: String? { errorMessage ?? (400...499 ~= statusCode ? problem?.userMessage : nil) }

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

    /// The text of an OAuth error (RFC 6749, section 5.2), or of the members that most APIs have.
    private var jsonMessage: String? {
        guard let members else { return nil }
        if let code = members.text("error"), let text = members.text("error_description") { return "\(code): \(text)" }
        let first = (members["errors"] as? [Any])?.first
        return members.text("message") ?? members.text("error") ?? members.text("detail")
            ?? (members["error"] as? [String: Any])?.text("message") ?? (first as? [String: Any])?.text("message")
    }

    private var firstLineOfText: String? {
        guard mediaType == "text/plain", let text = String(data: data, encoding: .utf8) else { return nil }
        let line = text.split(whereSeparator: \.isNewline).lazy.map { $0.trimmingCharacters(in: .whitespaces) }.first { !$0.isEmpty }
        // What looks like another format is a body.
        return line.flatMap { "{[<\"".contains($0.prefix(1)) ? nil : $0 }
    }

    /// The error of a challenge. The body beside it is often empty (RFC 6750, section 3).
    private var challengeMessage: String? {
        guard var rest = value(forHTTPHeaderField: "WWW-Authenticate")?[...] else { return nil }
        var values: [String: String] = [:]
        // The first parameter of a challenge stands behind its scheme.
        while !rest.isEmpty {
            for (name, value) in rest.takeParameters() { values[name.split(separator: " ").last.map(String.init) ?? ""] = value }
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

    /// Without a type of its own, the title is the phrase of the status.
    var userMessage: String? { detail ?? (hasOwnType ? title : nil) }
}

extension [String: Any] {
    fileprivate func text(_ name: String) -> String? { (self[name] as? String)?.nonblank }
}

extension String {
    /// `nil` if there is nothing to read in it.
    package var nonblank: String? { contains { !$0.isWhitespace } ? self : nil }
}
