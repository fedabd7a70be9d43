import APIProvider
import Foundation
import Observation

@MainActor @Observable
final class ChatModel {
    private(set) var text = ""
    /// The arguments of each tool.
    private(set) var tools: [Int: String] = [:]
    private(set) var isWriting = false
    private(set) var message: String?
    private let provider: any APIProvider
    private let latest = SerialDisposable()

    init(provider: any APIProvider) {
        self.provider = provider
    }

    deinit {
        latest.dispose()
    }

    func ask(_ prompt: String) {
        text = ""
        tools = [:]
        message = nil
        isWriting = true
        latest.disposable = provider.request(Completion(prompt: prompt))
            .flatMap { [weak self] events in
                events.forEach { [weak self] event in
                    if event.data != "[DONE]" {
                        await self?.add(try event.decode(Delta.self))
                    }
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

    func stop() {
        latest.disposable = Disposables.create()
        isWriting = false
    }

    private func add(_ delta: Delta) {
        text += delta.text ?? ""
        for call in delta.toolCalls ?? [] {
            tools[call.index, default: ""] += call.arguments ?? ""
        }
    }
}
