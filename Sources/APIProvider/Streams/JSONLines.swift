import Foundation

/// Values, one on each line (JSON Lines, NDJSON), decoded by the provider's decoder.
///
/// ```swift
/// for try await row in try await provider.request(
///     Endpoint<JSONLines<Row>>(.get, "/rows")
/// ).value { rows.append(row) }
/// ```
///
/// A line ends in LF or CRLF. Empty lines are skipped, a last line without a terminator is included, and a record separator before a value
/// is dropped (RFC 7464).
///
/// Reading throws ``ByteStream``'s errors. An undecodable line throws ``APIError/decoding(_:expected:underlying:)`` with the line's number,
/// and ends the stream. A line beyond the limit throws ``APIError/transport(_:underlying:)``.
public struct JSONLines<Value: Decodable & Sendable>: StreamedResponse {
    /// `application/x-ndjson`.
    public static var mediaType: String? { "application/x-ndjson" }

    private let bytes: ByteStream

    /// Creates values by decoding `bytes` with `decoder`.
    public init(_ bytes: ByteStream, decoder: any BodyDecoder) { self.bytes = ByteStream(bytes.response.with(decoder: decoder)) }

    /// Returns an iterator over the values.
    public func makeAsyncIterator() -> StreamIterator<Value> {
        StreamIterator(bytes, endsAtCarriageReturn: false, Self.parser(of: bytes.response))
    }

    static func parser(of response: APIResponse) -> StreamIterator<Value>.Parse {
        var number = 0
        return { line, values in
            number += 1
            var line = line[...]
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            // RS begins a record in a JSON text sequence.
            if line.first == 0x1E { line.removeFirst() }
            guard !line.isEmpty else { return }
            let data = Data(line)
            values.append(try response.decode(Value.self, from: data) { response.part(named: "line \(number)", data: data) })
        }
    }
}
