import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// MARK: - For your own log

extension PreparedRequest {
    /// `GET https://api.example.com/search?q=…`, redacted, on one line.
    public func description(redacting redaction: Redaction) -> String { Redactor(redaction, for: self).line(of: self).onOneLine }

    /// A redacted line for each header field, ordered by name, and one for the body: the type and the size or, with ``Redaction/none``, the
    /// text's beginning.
    public func details(redacting redaction: Redaction = .standard) -> [String] {
        Redactor(redaction, for: self).details(of: self).map(\.onOneLine)
    }
}

extension APIResponse {
    /// `GET https://api.example.com/search?q=…: 200 OK, 812 bytes`, redacted, on one line.
    public func description(redacting redaction: Redaction) -> String {
        "\(request.description(redacting: redaction)): \(statusDescription), \(bodyStream == nil ? "\(data.count) bytes" : "streamed")"
    }

    /// A line for each header field, ordered by name, and one for the body: see ``PreparedRequest/details(redacting:)``.
    public func details(redacting redaction: Redaction = .standard) -> [String] {
        Redactor(redaction, for: request).details(of: self).map(\.onOneLine)
    }
}

extension Redactor {
    func details(of request: PreparedRequest) -> [String] {
        // A file is read only to show its bytes.
        let start = redaction.showsEverything ? request.body?.prefix(Self.readLength) : nil
        return lines(of: request.headers.dictionary)
            + lines(ofBody: start ?? Data(), total: request.body?.count ?? 0, type: request.headers["Content-Type"])
    }

    func details(of response: APIResponse) -> [String] {
        let (data, type) = (response.data, response.value(forHTTPHeaderField: "Content-Type"))
        return lines(of: response.httpResponse.headerFields) + lines(ofBody: data.prefix(Self.readLength), total: data.count, type: type)
    }

    /// The limit for reading a body, so that a large body costs no more. Above the shown 1024 bytes.
    private static let readLength = 8192

    /// Without redaction, a body's beginning; otherwise the type and the size.
    private func lines(ofBody body: Data, total: Int, type: String?) -> [String] {
        total == 0 ? [] : [text(of: body, total: total)?.cut(to: 1024) ?? size(total, type: type)]
    }

    /// Without redaction, a body's text; `nil` otherwise, and for binary data.
    ///
    /// - Parameter total: The whole body's size. `body` may be only the beginning.
    private func text(of body: Data, total: Int) -> String? {
        guard redaction.showsEverything else { return nil }
        // A body's beginning may end within a character.
        let cuts = 0...(total > body.count ? 3 : 0)
        guard let text = cuts.lazy.compactMap({ String(data: body.dropLast($0), encoding: .utf8) }).first, !text.contains("\0") else {
            return nil
        }
        return total > body.count ? text + "…" : text
    }

    private func lines(of headers: [String: String]) -> [String] {
        headers.sortedByName.map { "\($0): \(header($0, $1))" }
    }
}
