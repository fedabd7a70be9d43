import Foundation

/// The lines of a text, as they arrive.
///
/// ```swift
/// for try await line in try await provider.request(Endpoint<TextLines>(.get, "/log"))
///     .value
/// { print(line) }
/// ```
///
/// A line ends in LF, CR or CRLF, which are not part of it. Empty lines are lines. A last line without a terminator is included. The text
/// is read as UTF-8, and bytes that are not UTF-8 become U+FFFD.
///
/// Reading throws what ``ByteStream`` throws, and ``APIError/transport(_:underlying:)`` if a line is too long.
public struct TextLines: StreamedResponse {
    private let bytes: ByteStream

    /// Creates the lines of `bytes`. The `decoder` is not used.
    public init(_ bytes: ByteStream, decoder: any BodyDecoder) { self.bytes = bytes }

    /// Returns an iterator over the lines.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(lines: LineIterator(bytes, LineSplitter(maxSize: bytes.maxElementSize), TextLineParser()))
    }

    /// Reads the lines.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var lines: LineIterator<TextLineParser>

        /// Waits for a line and returns it; `nil` is the end.
        ///
        /// - Throws: ``APIError/transport(_:underlying:)`` if the connection has broken or the line is too long, or `CancellationError`.
        public mutating func next() async throws -> String? { try await lines.nextElement(isolation: nil) }

        /// Like ``next()``, but runs on `actor`, which a `for` loop sets to its own.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
            try await lines.nextElement(isolation: actor)
        }
    }
}

struct TextLineParser: LineParser {
    static var includesUnterminatedLine: Bool { true }

    func parse(_ line: UnsafeBufferPointer<UInt8>, into lines: inout [String]) { lines.append(String(decoding: line, as: UTF8.self)) }
}
