import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

private struct Completion: APIRequest {
    let prompt: String
    var endpoint: Endpoint<ServerSentEvents> {
        Endpoint(.post, "/v1/chat/completions", body: .json(["prompt": prompt]), timeoutInterval: 30)
    }
}

private struct CompletionDelta: Decodable {
    struct ToolCall: Decodable {
        let index: Int
        let name: String?
        let arguments: String?
    }

    let text: String?
    let toolCalls: [ToolCall]?
}

@MainActor
private final class ChatModel {
    private(set) var text = ""
    /// The arguments of each tool come in pieces, too.
    private(set) var tools: [Int: (name: String, arguments: String)] = [:]
    private(set) var isWriting = false
    private(set) var message: String?
    private let provider: any APIProvider
    private let latest = SerialDisposable()

    init(provider: any APIProvider) { self.provider = provider }

    deinit { latest.dispose() }

    func ask(_ prompt: String) {
        (text, tools, message, isWriting) = ("", [:], nil, true)
        latest.disposable = provider.request(Completion(prompt: prompt))
            .flatMap { [weak self] events in
                events.forEach { [weak self] event in
                    guard event.data != "[DONE]" else { return }
                    await self?.add(try event.decode(CompletionDelta.self))
                }
            }
            .observe(on: MainActor.shared)
            .subscribe(
                with: self,
                onSuccess: { model, _ in model.isWriting = false },
                onFailure: { model, error in
                    model.isWriting = false
                    model.message = error.localizedDescription
                })
    }

    /// What has come stays.
    func stop() {
        latest.disposable = Disposables.create()
        isWriting = false
    }

    private func add(_ delta: CompletionDelta) {
        text += delta.text ?? ""
        for call in delta.toolCalls ?? [] {
            let tool = tools[call.index] ?? ("", "")
            tools[call.index] = (tool.name + (call.name ?? ""), tool.arguments + (call.arguments ?? ""))
        }
    }
}

@MainActor
@Suite("The cookbook's chat", tenMinutes, .mockNetwork)
struct ChatTests {
    private let scheduler = TestScheduler()

    private func makeModel() -> ChatModel {
        ChatModel(provider: DefaultAPIProvider(baseURL: example, transport: MockTransport(scheduler: scheduler)))
    }

    @Test func anAnswerComesWordByWord() async throws {
        let events = [#"{"text":"Hello"}"#, #"{"text":" there"}"#, "[DONE]"]
        MockURLProtocol.stub(
            Completion(prompt: "Hi"),
            respond: .events(events.map { ServerSentEvent(data: $0) }, every: 0.1))
        let model = makeModel()

        model.ask("Hi")
        for text in ["Hello", "Hello there"] {
            scheduler.advance(by: .milliseconds(100))
            await eventually { model.text == text }
            #expect(model.text == text)
            #expect(model.isWriting)
        }
        scheduler.advance(by: .milliseconds(100))
        await eventually { !model.isWriting }
        #expect(!model.isWriting)
        #expect(model.message == nil)
    }
}
