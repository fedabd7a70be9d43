import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Reads the elements of ``ServerSentEvents``, ``JSONLines`` or ``TextLines``.
///
/// A copy is the same reader, as with most asynchronous iterators: read with one of them.
public struct StreamIterator<Element: Sendable>: AsyncIteratorProtocol {
    /// Parses a line, and appends completed elements.
    typealias Parse = (_ line: UnsafeBufferPointer<UInt8>, _ elements: inout [Element]) throws -> Void

    // Closures, and no existential: see `ByteStream.AsyncIterator`.
    private let makeTransportError: @Sendable (URLError) -> APIError
    private let parse: Parse
    /// Whether a last line without a terminator is included.
    private let includesUnterminatedLine: Bool
    private var bytes: ByteStream.AsyncIterator?
    private var splitter: LineSplitter
    /// The elements read and not yet returned.
    private var elements: [Element] = []
    private var nextIndex = 0
    private var failure: (any Error)?

    init(_ bytes: ByteStream, endsAtCarriageReturn: Bool = true, includesUnterminatedLine: Bool = true, _ parse: @escaping Parse) {
        makeTransportError = { [request = bytes.response.request] in .transport(request, underlying: $0) }
        (self.bytes, self.parse, self.includesUnterminatedLine) = (bytes.makeAsyncIterator(), parse, includesUnterminatedLine)
        splitter = LineSplitter(endsAtCarriageReturn: endsAtCarriageReturn, maxSize: bytes.maxElementSize)
    }

    /// Waits for an element and returns it; `nil` at the end.
    ///
    /// - Throws: ``APIError/transport(_:underlying:)`` for a broken connection or too large an element,
    ///   ``APIError/decoding(_:expected:underlying:)`` for a line of ``JSONLines`` that does not decode, or `CancellationError`.
    public mutating func next() async throws -> Element? { try await nextElement(isolation: nil) }

    /// Like ``next()``, but on `actor`, which is a `for` loop's own.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
        try await nextElement(isolation: actor)
    }

    private mutating func nextElement(isolation actor: isolated (any Actor)?) async throws -> Element? {
        if Task.isCancelled {
            (bytes, elements, nextIndex) = (nil, [], 0)
            throw CancellationError()
        }
        while true {
            if nextIndex < elements.count {
                defer { nextIndex += 1 }
                return elements[nextIndex]
            }
            elements.removeAll(keepingCapacity: true)
            nextIndex = 0
            if let failure = failure.take() { throw failure }
            guard bytes != nil else { return nil }
            await readBytes(isolation: actor)
        }
    }

    /// After an error in reading or parsing, the transfer ends at once, and the elements before the error are returned first.
    private mutating func readBytes(isolation actor: isolated (any Actor)?) async {
        do {
            let chunk = try await bytes?.nextChunk(isolation: actor)
            if chunk == nil { bytes = nil }
            try Self.read(chunk, &splitter, includesUnterminatedLine, &elements, parse)
        } catch {
            bytes = nil
            failure = (error as? ElementTooLarge).map { makeTransportError($0.urlError) } ?? error
        }
    }

    private static func read(
        _ chunk: Data?, _ splitter: inout LineSplitter, _ includesUnterminatedLine: Bool, _ elements: inout [Element], _ parse: Parse
    ) throws {
        if let chunk {
            try chunk.withUnsafeBytes { bytes in
                try splitter.split(bytes.assumingMemoryBound(to: UInt8.self)) { try parse($0, &elements) }
            }
        } else if includesUnterminatedLine {
            try splitter.finish { try parse($0, &elements) }
        }
    }
}

extension ElementTooLarge {
    fileprivate var urlError: URLError {
        let reason = "an element of its stream has more than the maxElementSize of \(maxSize) bytes"
        return URLError(.dataLengthExceedsMaximum, reason: reason)
    }
}
