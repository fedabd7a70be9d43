import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Parses lines into elements.
protocol LineParser: Sendable {
    associatedtype Element: Sendable

    /// Parses `line`, and appends completed elements.
    mutating func parse(_ line: UnsafeBufferPointer<UInt8>, into elements: inout [Element]) throws

    /// Whether a last line without a terminator is included.
    static var includesUnterminatedLine: Bool { get }
}

/// Reads elements from a stream of bytes.
struct LineIterator<Parser: LineParser> {
    private let makeTransportError: @Sendable (URLError) -> APIError
    private var bytes: ByteStream.AsyncIterator?
    private var splitter: LineSplitter
    var parser: Parser
    /// The elements read and not yet returned.
    private var elements: [Parser.Element] = []
    private var nextIndex = 0
    private var failure: (any Error)?

    init(_ bytes: ByteStream, _ splitter: LineSplitter, _ parser: Parser) {
        makeTransportError = { [request = bytes.response.request] in .transport(request, underlying: $0) }
        self.bytes = bytes.makeAsyncIterator()
        (self.splitter, self.parser) = (splitter, parser)
    }

    mutating func nextElement(isolation actor: isolated (any Actor)?) async throws -> Parser.Element? {
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
            try Self.read(chunk, &splitter, &parser, &elements)
        } catch {
            bytes = nil
            failure = (error as? ElementTooLarge).map { makeTransportError($0.urlError) } ?? error
        }
    }

    private static func read(
        _ chunk: Data?, _ splitter: inout LineSplitter, _ parser: inout Parser, _ elements: inout [Parser.Element]
    ) throws {
        if let chunk {
            try chunk.withUnsafeBytes { bytes in
                try splitter.split(bytes.assumingMemoryBound(to: UInt8.self)) { try parser.parse($0, into: &elements) }
            }
        } else if Parser.includesUnterminatedLine {
            try splitter.finish { try parser.parse($0, into: &elements) }
        }
    }
}

extension ElementTooLarge {
    fileprivate var urlError: URLError {
        let reason = "an element of its stream has more than the maxElementSize of \(maxSize) bytes"
        return URLError(.dataLengthExceedsMaximum, reason: reason)
    }
}
