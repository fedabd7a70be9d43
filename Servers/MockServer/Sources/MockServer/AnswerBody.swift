import APIProvider
import FlyingSocks
import Foundation

/// The body of an answer, chunk by chunk.
struct AnswerBody: AsyncBufferedSequence {
    typealias Element = UInt8

    let bytes: ByteStream
    /// The `Content-Length` of the head.
    let length: Int?

    func makeAsyncIterator() -> Iterator { Iterator(chunks: bytes.makeAsyncIterator(), length: length) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        var chunks: ByteStream.AsyncIterator
        let length: Int?
        var rest = Data()
        var count = 0

        mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

        mutating func nextBuffer(suggested maximum: Int) async throws -> Data? {
            if rest.isEmpty { rest = try await chunks.next() ?? Data() }
            // A body of another length must not go on in the next answer.
            let part = rest.prefix(Swift.min(maximum, (length ?? .max) - count))
            rest = rest.dropFirst(part.count)
            count += part.count
            if !part.isEmpty { return part }
            guard rest.isEmpty, count == length ?? count else { throw ConnectionEnd() }
            return nil
        }
    }
}
