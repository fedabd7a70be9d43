import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

private struct Item: Codable, Equatable { let name: String }

@MainActor
private final class SearchBox {
    private(set) var items: [Item] = []
    private(set) var message: String?
    private let provider: any APIProvider
    private let scheduler: any Scheduler
    private let latest = SerialDisposable()

    init(provider: any APIProvider, scheduler: any Scheduler = SerialDispatchQueueScheduler(qos: .userInitiated)) {
        (self.provider, self.scheduler) = (provider, scheduler)
    }

    deinit { latest.dispose() }

    func textDidChange(_ text: String) {
        latest.disposable = Single.just(text)
            .delay(.milliseconds(300), scheduler: scheduler)
            .flatMap { [provider] text in provider.request(Endpoint<[Item]>(.get, "/search", query: ["q": text])) }
            .observe(on: MainActor.shared)
            .subscribe(
                with: self,
                onSuccess: { box, items in box.items = items },
                onFailure: { box, error in box.message = error.localizedDescription })
    }
}

@Suite("The cookbook: a search box", .mockNetwork)
@MainActor
struct SearchBoxTests {
    @Test("Typing sends one request, when it pauses")
    func pause() async throws {
        MockURLProtocol.stub(.get, "/search", query: ["q": "swift"], respond: .json([Item(name: "swift")]))
        let time = TestScheduler()
        let box = SearchBox(provider: DefaultAPIProvider(baseURL: example, transport: MockTransport()), scheduler: time)
        for text in ["s", "sw", "swi", "swif", "swift"] {
            box.textDidChange(text)
            time.advance(by: .milliseconds(100))
        }
        #expect(MockURLProtocol.requests.isEmpty)
        time.advance(by: .milliseconds(200))
        #expect(MockURLProtocol.requests.count == 1)
        // The items come at once, or behind what other tests have on the main queue.
        try await Single.just(()).observe(on: MainScheduler.instance).value
        #expect(box.items == [Item(name: "swift")])
        #expect(box.message == nil)
    }
}
