import NIOCore
import NIOEmbedded
import Testing

@testable import MockServer

@Suite struct AbandonmentTests {
    private let channel = EmbeddedChannel(handler: AbandonmentHandler())

    @Test("A client that has ended its side is given up after a minute without a byte") func aClientThatHasEndedItsSideIs() throws {
        try connect()
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        advance(59)
        #expect(channel.isActive)
        advance(1)
        #expect(!channel.isActive)
    }

    @Test("It may wait for a slow answer for as long as bytes come") func itMayWaitForASlowAnswerFor() throws {
        try connect()
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        for _ in 0..<10 {
            advance(50)
            try channel.writeOutbound(IOData.byteBuffer(ByteBuffer(string: "a")))
        }
        #expect(channel.isActive)
        advance(60)
        #expect(!channel.isActive)
    }

    @Test("A client that may still send waits for ever") func aClientThatMayStillSendWaitsFor() throws {
        try connect()
        advance(1_000_000)
        #expect(channel.isActive)
    }

    private func connect() throws { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait() }

    private func advance(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }
}
