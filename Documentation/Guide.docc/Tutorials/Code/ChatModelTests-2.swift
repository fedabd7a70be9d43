import APIProviderTesting
import Testing

@testable import GitHubSearch

@Suite(.mockNetwork, .timeLimit(.minutes(1))) @MainActor struct ChatModelTests {
    private let feed = StreamFeed()
    private let model = ChatModel(
        provider: DefaultAPIProvider(baseURL: GitHub.url, transport: MockTransport()))

    @Test func showsAnAnswerWordByWord() async {
        MockURLProtocol.stub(Completion(prompt: "Hi"), respond: .events(from: feed))

        model.ask("Hi")
        feed.send(ServerSentEvent(data: #"{"text":"Hello"}"#))
        await feed.waitUntilRead()
        #expect(model.text == "Hello")

        feed.send(ServerSentEvent(data: #"{"text":" there"}"#))
        await feed.waitUntilRead()
        #expect(model.text == "Hello there")
        #expect(model.isWriting)
    }

    @Test func stoppingKeepsWhatHasCome() async {
        MockURLProtocol.stub(Completion(prompt: "Hi"), respond: .events(from: feed))

        model.ask("Hi")
        feed.send(ServerSentEvent(data: #"{"text":"Hello"}"#))
        await feed.waitUntilRead()
        model.stop()
        await feed.waitUntilCancelled()

        #expect(model.text == "Hello")
        #expect(!model.isWriting)
    }
}
