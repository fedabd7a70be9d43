import Foundation

/// A text's lines, as they arrive.
///
/// ```swift
/// for try await line in try await provider.request(Endpoint<TextLines>(.get, "/log"))
///     .value
/// { print(line) }
/// ```
///
/// A line ends in LF, CR or CRLF, and excludes that terminator. Empty lines are lines. A last line without a terminator is included. The
/// text is read as UTF-8, and invalid bytes become U+FFFD.
///
/// If the `Content-Type` names another charset than UTF-8, the request fails with ``APIError/decoding(_:expected:underlying:)`` and names
/// the charset. Read such a text as a `String`, or as a ``ByteStream``.
///
/// Reading throws ``ByteStream``'s errors, and ``APIError/transport(_:underlying:)`` for too long a line.
public struct TextLines: StreamedResponse {
    private let bytes: ByteStream

    /// Creates the lines in `bytes`. The `decoder` is not used.
    ///
    /// - Throws: ``APIError/decoding(_:expected:underlying:)`` if the `Content-Type` names another charset than UTF-8.
    public init(_ bytes: ByteStream, decoder: any BodyDecoder) throws {
        let charset = bytes.response.httpResponse.contentType?.charset ?? "utf-8"
        // ASCII is a part of UTF-8.
        guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(charset.lowercased()) else {
            let reason = "its charset \(charset.cut(to: 40)) is not UTF-8; read it as a String or a ByteStream"
            let problem = DecodingError.Context(codingPath: [], debugDescription: reason, underlyingError: BodyMismatch(reason))
            throw APIError.decoding(bytes.response, expected: "TextLines", underlying: DecodingError.dataCorrupted(problem))
        }
        self.bytes = bytes
    }

    /// Returns an iterator over the lines.
    public func makeAsyncIterator() -> StreamIterator<String> { StreamIterator(bytes, Self.parse) }

    static func parse(_ line: UnsafeBufferPointer<UInt8>, into lines: inout [String]) {
        lines.append(String(decoding: line, as: UTF8.self))
    }
}
