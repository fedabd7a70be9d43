import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

// This target is isolated to the main actor by default, as new targets of Xcode are. Models and the constants that requests use are
// `nonisolated`.

nonisolated struct User: Codable, Equatable {
    let login: String
}

struct UserRequest: APIRequest {
    let login: String
    var endpoint: Endpoint<User> { Endpoint(.get, "/users/\(login)", headers: ["X-App": "demo"]) }
}

nonisolated private enum PriorityKey: RequestOptionKey { static let defaultValue = 0 }

nonisolated extension RequestOptions {
    var priority: Int {
        get { self[PriorityKey.self] }
        set { self[PriorityKey.self] = newValue }
    }
}

nonisolated private let gitHub = example.appendingPathComponent("v3")

final class Screen {
    private let bag = DisposeBag()
    private let provider: any APIProvider
    private(set) var user: User?

    init(provider: any APIProvider) { self.provider = provider }

    func show(_ login: String, then done: @escaping @MainActor () -> Void) {
        provider.request(UserRequest(login: login))
            .observe(on: MainActor.shared)
            .subscribe(onSuccess: { self.user = $0 }, onFailure: { Issue.record("\($0)") }, onDisposed: done)
            .disposed(by: bag)
    }
}

@Suite("A target that is isolated to the main actor by default")
struct MainActorTests {
    /// Responds with the user whom the path names.
    let provider = DefaultAPIProvider(
        baseURL: gitHub,
        transport: ClosureTransport { request in
            .just(APIResponse(to: request, data: Data(#"{"login":"\#(request.url.lastPathComponent)"}"#.utf8)))
        })

    @Test("A request is sent and its response decoded")
    func request() async throws {
        #expect(try await provider.request(UserRequest(login: "octocat")).value == User(login: "octocat"))
    }

    @Test("An endpoint takes a user's options")
    func options() {
        #expect(UserRequest(login: "octocat").endpoint.option(\.priority, 1).options.priority == 1)
    }

    @Test("A screen keeps the response without code for threads")
    func screen() async {
        let screen = Screen(provider: provider)
        await withCheckedContinuation { continuation in screen.show("octocat") { continuation.resume() } }
        #expect(screen.user == User(login: "octocat"))
    }
}
