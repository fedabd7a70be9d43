public import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A response's arriving bytes.
///
/// ```swift
/// let bytes = try await provider.request(Endpoint<ByteStream>(.get, "/dump")).value
/// for try await chunk in bytes { try file.write(contentsOf: chunk) }
/// ```
///
/// Reading throws ``APIError/transport(_:underlying:)`` for a broken connection, after the received bytes, and `CancellationError` in a
/// cancelled task.
public struct ByteStream: StreamedResponse {
    /// The response. `data` is empty, unless the transport returned the whole body in memory.
    public let response: APIResponse

    /// Creates a stream of the body in `response`. A complete body is one chunk.
    public init(_ response: APIResponse) { self.response = response }

    /// Creates the same stream as `bytes`. ``StreamedResponse`` requires this initializer. The `decoder` is not used.
    public init(_ bytes: ByteStream, decoder: any BodyDecoder) { self = bytes }

    /// Returns an iterator over the bytes. A stream from the network can be read once: a second iterator throws.
    public func makeAsyncIterator() -> AsyncIterator {
        guard let stream = response.bodyStream else { return AsyncIterator(source: .data(response.data)) }
        if let owner = stream.withLock({ $0.take() }) { return AsyncIterator(source: .stream(owner)) }
        let error = URLError(.unknown, reason: "a stream can be read once, and this one was read before; send the request again")
        return AsyncIterator(source: .failed(APIError.transport(response.request, underlying: error)))
    }

    /// Reads the bytes. `Sendable`, so that your own iterator may contain this one, even in a target where `async` functions run on the
    /// caller's actor.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        // This iterator, and the iterators around it, store no existential except errors, because optimized builds leak any other (see
        // Documentation/Upstream.md, "swift"). So `StreamIterator` stores closures instead.
        enum Source {
            case data(Data)
            case stream(StreamHandle)
            case failed(any Error)
            case end
        }

        var source: Source

        /// Waits for bytes and returns them; `nil` at the end.
        ///
        /// - Throws: ``APIError/transport(_:underlying:)`` for a broken connection, or `CancellationError`.
        public mutating func next() async throws -> Data? { try await nextChunk(isolation: nil) }

        /// Like ``next()``, but on `actor`, which is a `for` loop's own.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            try await nextChunk(isolation: actor)
        }

        mutating func nextChunk(isolation actor: isolated (any Actor)?) async throws -> Data? {
            switch source {
            case .data(let data):
                source = .end
                return data.isEmpty ? nil : data
            case .stream(let owner):
                do {
                    if let chunk = try await owner.next(isolation: actor) { return chunk }
                    source = .end
                    return nil
                } catch {
                    source = .end
                    throw error
                }
            case .failed(let error):
                source = .end
                throw error
            case .end: return nil
            }
        }
    }
}
