import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite(tenMinutes)
struct StreamBufferTests {
    @Test func aSecondIteratorThrowsASentence() async throws {
        let stream = streamedResponse(["abc".utf8])
        var (first, second) = (stream.makeAsyncIterator(), stream.makeAsyncIterator())

        let error = await #expect(throws: APIError.self) { try await second.next() }
        #expect(error?.description.contains("a stream can be read once") == true, "\(String(describing: error))")
        #expect(try await first.next() == Data("abc".utf8))
        #expect(try await first.next() == nil)
    }

    @Test func aBodyThatIsThereIsOneChunk() async throws {
        let response = APIResponse(to: PreparedRequest(.get, URL(string: "https://api.test/")!), data: Data("abc".utf8))

        #expect(try await ByteStream(response).all() == [Data("abc".utf8)])
    }

    @Test func theTransferEndsWhenTheIteratorGoes() async throws {
        let log = Log<String>()
        let buffer = StreamBuffer(transfer: Disposables.create { log.append("ended") })
        let stream = ByteStream(response(buffer))
        buffer.append(Data("a".utf8))
        for try await _ in stream { break }

        #expect(log.entries == ["ended"])
        withExtendedLifetime(stream) {}
    }

    @Test func theTransferEndsWhenNobodyCanReadTheStreamAnyMore() {
        let log = Log<String>()
        do {
            let copy: ByteStream
            do { copy = ByteStream(response(StreamBuffer(transfer: Disposables.create { log.append("ended") }))) }
            #expect(log.entries.isEmpty)
            withExtendedLifetime(copy) {}
        }
        #expect(log.entries == ["ended"])
    }

    @Test("The transfer ends when its head is refused, though the error has the response", arguments: [true, false])
    func refused(isValidated: Bool) {
        let log = Log<String>()
        let response = response(type: "text/html", StreamBuffer(transfer: Disposables.create { log.append("ended") }))
        let endpoint = Endpoint<ServerSentEvents>(.get, "/").validating { if isValidated { throw APIError.unacceptableStatus($0) } }
        let error = #expect(throws: APIError.self) { try endpoint.value(of: response) }

        #expect(log.entries == ["ended"])
        #expect(error?.response?.statusCode == 200)
    }

    @Test func theTransferEndsWhenTheTaskThatReadsIsCancelled() async throws {
        let ended = Signals<Void>()
        let buffer = StreamBuffer(transfer: Disposables.create { ended.send(()) })
        let stream = ByteStream(response(buffer))
        let reading = Task { try await stream.all() }
        reading.cancel()

        await ended.next()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test func aReaderThatIsBehindHoldsTheTransfer() async throws {
        let log = Log<String>()
        let buffer = StreamBuffer(transfer: Disposables.create())
        var bytes = ByteStream(response(buffer)).makeAsyncIterator()
        buffer.whenReady { log.append("at once") }
        buffer.append(Data(count: StreamBuffer.highWaterMark))
        #expect(buffer.isFull)
        buffer.whenReady { log.append("later") }
        #expect(log.entries == ["at once"])

        #expect(try await bytes.next()?.count == StreamBuffer.highWaterMark)
        #expect(log.entries == ["at once", "later"])
        #expect(!buffer.isFull)
    }

    @Test func aReaderThatLeavesLetsTheTransferGoOn() {
        let log = Log<String>()
        let buffer = StreamBuffer(transfer: Disposables.create { log.append("ended") })
        var stream: ByteStream? = ByteStream(response(buffer))
        buffer.append(Data(count: StreamBuffer.highWaterMark))
        buffer.whenReady { log.append("goes on") }
        stream = nil

        #expect(log.entries == ["ended", "goes on"])
        #expect(!buffer.isFull)
        _ = stream
    }

    @Test func aChunkThatWasTakenIsReleased() async throws {
        let released = Log<Int>()
        let buffer = StreamBuffer(transfer: Disposables.create())
        for number in 0..<4 {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 1_000, alignment: 1)
            buffer.append(
                Data(
                    bytesNoCopy: bytes, count: 1_000,
                    deallocator: .custom { bytes, _ in
                        bytes.deallocate()
                        released.append(number)
                    }))
        }
        var bytes = ByteStream(response(buffer)).makeAsyncIterator()
        for _ in 0..<3 { #expect(try await bytes.next()?.count == 1_000) }
        #expect(released.entries == [0, 1, 2])
    }
}
