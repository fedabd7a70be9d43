import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

private struct User: Codable, Equatable, Sendable { var login = "" }
private struct Job: Codable, Equatable { let isDone: Bool }

private func finished(_ job: Int, _ provider: some APIProvider, _ scheduler: any Scheduler) -> Single<Job> {
    provider.request(Endpoint<Job>(.get, "/jobs/\(job)")).flatMap { status in
        guard !status.isDone else { return .just(status) }
        return Single.just(job).delay(.seconds(2), scheduler: scheduler).flatMap { finished($0, provider, scheduler) }
    }
}

private func users(_ logins: [String], _ provider: some APIProvider) -> Single<[User]> {
    Single.zip(logins.map { provider.request(Endpoint<User>(.get, "/users/\($0)")) }, maxConcurrent: 4)
}

private enum AppError: Error {
    case offline, signedOut
    /// The server says what is wrong.
    case refused(String)
    /// A bug, here or there, with its sentence for the log.
    case unexpected(String)

    init(_ error: any Error) {
        struct Problem: Decodable { let message: String }
        switch error as? APIError {
        case .transport? where (error as? APIError)?.urlError?.code == .notConnectedToInternet: self = .offline
        case .unacceptableStatus(let response)? where response.statusCode == 401: self = .signedOut
        case .unacceptableStatus(let response)?:
            self = (try? response.decode(Problem.self)).map { .refused($0.message) } ?? .unexpected(error.localizedDescription)
        default: self = .unexpected(error.localizedDescription)
        }
    }
}

extension APIProvider {
    fileprivate func load<Value: Sendable>(_ request: some APIRequest<Value>) -> Single<Value> {
        self.request(request).mapError { AppError($0) }
    }
}

@Suite("The cookbook: what a team needs", .mockNetwork)
struct TeamTests {
    private let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())

    @Test("A job is asked for until it is done")
    func polling() {
        MockURLProtocol.stub(
            .get, "/jobs/*", respond: .sequence([.json(Job(isDone: false)), .json(Job(isDone: false)), .json(Job(isDone: true))]))
        let (scheduler, log) = (TestScheduler(), Log<Job>())
        let subscription = finished(1, provider, scheduler).subscribe(onSuccess: { log.append($0) })
        scheduler.advance(by: .seconds(3))
        #expect(log.entries == [])
        scheduler.advance(by: .seconds(1))
        #expect(log.entries == [Job(isDone: true)])
        subscription.dispose()
    }

    @Test("Four at a time")
    func limit() async throws {
        MockURLProtocol.stub(.get, "/users/*", respond: .handler { .json(User(login: $0.url.lastPathComponent)) })
        #expect(try await users(["a", "b", "c", "d", "e"], provider).value.map(\.login) == ["a", "b", "c", "d", "e"])
    }

    @Test("All errors have one type")
    func errors() async throws {
        for (response, shown) in [
            (.failure(URLError(.notConnectedToInternet)), "offline"), (.status(401), "signedOut"),
            (.json(["message": "no"], status: 422), #"refused("no")"#),
            (.status(500), #"unexpected("GET https://api.example.com/me failed: 500 Internal Server Error.")"#),
        ] as [(StubResponse, String)] {
            MockURLProtocol.stub(.get, "/me", times: 1, respond: response)
            let error = await #expect(throws: AppError.self) { try await provider.load(Endpoint<User>(.get, "/me")).value }
            #expect(error.map { "\($0)" } == shown)
        }
    }

    @MainActor
    private final class Screen {
        var user = User() { didSet { changed.send(()) } }
        let changed = Signals<Void>()

        func show(_ error: any Error) { Issue.record(error) }
    }

    @Test("A value is bound to a property")
    @MainActor func binding() async {
        MockURLProtocol.stub(.get, "/me", respond: .json(User(login: "a")))
        let screen = Screen()
        let bag = DisposeBag()
        provider.request(Endpoint<User>(.get, "/me"))
            .observe(on: MainActor.shared)
            .subscribe(with: screen, onSuccess: { $0.user = $1 }, onFailure: { $0.show($1) })
            .disposed(by: bag)
        await screen.changed.next()
        #expect(screen.user.login == "a")
    }

    @Test("What the text of the recipes names")
    func names() throws {
        let (token, name, password) = ("t", "n", "p")
        let headers: [HTTPHeaders] = [.authorization(bearerToken: token), .authorization(username: name, password: password)]
        let middlewares: [any Middleware] = [
            ConcurrencyLimitMiddleware(maxConcurrent: 4), CoalescingMiddleware(),
            AuthenticationMiddleware(1, apply: { _, _ in }, isRejected: { $0.statusCode == 403 }) { _ in .just(2) },
        ]
        #expect(headers.count == 2 && middlewares.count == 3)
        _ = Endpoint<User>(.get, "/me").timeout(.seconds(5))
    }
}
