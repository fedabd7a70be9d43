import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderTransport

@Suite("The buffer of a stream", tenMinutes)
struct StreamBufferTests {
    private let log = Log<String>()

    private func makeBuffer() -> StreamBuffer { StreamBuffer(transfer: log.disposable("ended")) }

    @Test("A stream is read once: a second iterator throws; after its end or error, an iterator returns nil")
    func secondIterator() async throws {
        let stream = streamedResponse(["abc".utf8])
        var (first, second) = (stream.makeAsyncIterator(), stream.makeAsyncIterator())
        let error = await #expect(throws: APIError.self) { try await second.next() }
        #expect(error?.description.contains("a stream can be read once") == true, "\(String(describing: error))")
        #expect(try await second.next() == nil)
        #expect(try await first.next() == Data("abc".utf8))
        for _ in 0..<2 { #expect(try await first.next() == nil) }
        var broken = streamedResponse(["abc".utf8], then: URLError(.networkConnectionLost)).makeAsyncIterator()
        #expect(try await broken.next() == Data("abc".utf8))
        await #expect(throws: URLError.self) { try await broken.next() }
        #expect(try await broken.next() == nil)
    }

    @Test("Of two tasks that wait at copies of an iterator, one gets the next bytes, and the other an error")
    func copiedIterator() async throws {
        let buffer = makeBuffer()
        let iterator = ByteStream(response(buffer)).makeAsyncIterator()
        try await withThrowingTaskGroup(of: Data?.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    var copy = iterator
                    return try await copy.next()
                }
            }
            let error = await #expect(throws: APIError.self) { try await group.next() }
            #expect(error?.description.contains("another one waits for its next bytes") == true, "\(String(describing: error))")
            buffer.append(Data("abc".utf8))
            let bytes = try await group.next()
            #expect(bytes == Data("abc".utf8))
        }
    }

    /// Reads some elements with an iterator, and releases the iterator.
    private func read(_ count: Int, of stream: some StreamedResponse) async throws {
        var iterator = stream.makeAsyncIterator()
        for _ in 0..<count { #expect(try await iterator.next() != nil) }
    }

    @Test("The transfer ends with the iterator, whatever it reads, before and after elements, in an optimized build, too", arguments: 0...2)
    func released(count: Int) async throws {
        for kind in 1...3 {
            func bytes(_ text: String, _ type: String) -> ByteStream {
                let buffer = makeBuffer()
                buffer.append(Data(text.utf8))
                return ByteStream(response(type: type, buffer))
            }
            switch kind {
            case 1:
                try await read(
                    count, of: ServerSentEvents(bytes("data: a\n\ndata: b\n\ndata", "text/event-stream"), decoder: JSONDecoder()))
            case 2: try await read(count, of: TextLines(bytes("a\nb\nc", "text/plain"), decoder: JSONDecoder()))
            default: try await read(count, of: JSONLines<Int>(bytes("1\n2\n3", "application/x-ndjson"), decoder: JSONDecoder()))
            }
            #expect(log.count == kind)
        }
    }

    @Test("A body in memory is one chunk")
    func inMemory() async throws {
        let response = APIResponse(to: PreparedRequest(.get, example), data: Data("abc".utf8))
        #expect(try await ByteStream(response).all() == [Data("abc".utf8)])
    }

    @Test("The transfer ends when its head is refused, though the error has the response", arguments: [true, false])
    func refused(isValidated: Bool) {
        let response = response(type: "text/html", makeBuffer())
        let endpoint = Endpoint<ServerSentEvents>(.get, "/").validating { if isValidated { throw APIError.unacceptableStatus($0) } }
        let error = #expect(throws: APIError.self) { try endpoint.value(of: response) }
        #expect(log.entries == ["ended"])
        #expect(error?.response?.statusCode == 200)
    }

    @Test("When a slow reader leaves, the transfer ends and is not held back any more")
    func leaving() {
        let buffer = makeBuffer()
        var stream: ByteStream? = ByteStream(response(buffer))
        buffer.append(Data(count: StreamBuffer.highWaterMark))
        buffer.onWritable(log.adds("goes on"))
        #expect(log.entries == [])
        withExtendedLifetime(stream) {}
        stream = nil
        #expect(log.entries == ["ended", "goes on"])
        #expect(buffer.isWritable)
    }

    @Test("Each chunk is released when the next is read")
    func released() async throws {
        let buffer = makeBuffer()
        for number in 0..<4 {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 1_000, alignment: 1)
            let release: Data.Deallocator = .custom { [log] bytes, _ in
                bytes.deallocate()
                log.append("\(number)")
            }
            buffer.append(Data(bytesNoCopy: bytes, count: 1_000, deallocator: release))
        }
        var bytes = ByteStream(response(buffer)).makeAsyncIterator()
        for _ in 0..<3 { #expect(try await bytes.next()?.count == 1_000) }
        #expect(log.entries == ["0", "1", "2"])
    }
}
