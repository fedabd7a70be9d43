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
    public func makeAsyncIterator() -> AsyncIterator {
        let splitter = LineSplitter(endsAtCarriageReturn: false, maxSize: bytes.maxElementSize)
        return AsyncIterator(values: LineIterator(bytes, splitter, JSONLineParser(response: bytes.response)))
    }

    /// Reads the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var values: LineIterator<JSONLineParser<Value>>

        /// Waits for a line and returns the value; `nil` at the end.
        ///
        /// - Throws: ``APIError/decoding(_:expected:underlying:)`` for a line that does not decode, ``APIError/transport(_:underlying:)``
        ///   for a broken connection or a line beyond the limit, or `CancellationError`.
        public mutating func next() async throws -> Value? { try await values.nextElement(isolation: nil) }

        /// Like ``next()``, but on `actor`, which is a `for` loop's own.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            try await values.nextElement(isolation: actor)
        }
    }
}

struct JSONLineParser<Value: Decodable & Sendable>: LineParser {
    static var includesUnterminatedLine: Bool { true }

    private let decode: @Sendable (_ number: Int, _ line: Data) throws -> Value
    private var number = 0

    init(response: APIResponse) {
        decode = { number, line in
            try response.decode(Value.self, from: line) { response.part(named: "line \(number)", data: line) }
        }
    }

    mutating func parse(_ line: UnsafeBufferPointer<UInt8>, into values: inout [Value]) throws {
        number += 1
        var line = line[...]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        // RS begins a record in a JSON text sequence.
        if line.first == 0x1E { line.removeFirst() }
        guard !line.isEmpty else { return }
        values.append(try decode(number, Data(line)))
    }
}
