import APIProvider
import Foundation
import GitHubAPI
import MiniRx
import MockNetwork
import TestSupport

private struct Item: Codable { let name: String }
private struct User: Codable { var login = "" }
private struct Job: Codable { let isDone: Bool }

// Sign in and sign out

private final class Account: Sendable {
    let provider: DefaultAPIProvider
    private let login: DefaultAPIProvider
    private let authentication: AuthenticationMiddleware<Session>
    private let keep: @Sendable (Session?) -> Void

    init(
        baseURL: URL, configuration: URLSessionConfiguration = .default, session: Session?, keep: @escaping @Sendable (Session?) -> Void
    ) {
        let login = DefaultAPIProvider(baseURL: baseURL, configuration: configuration)
        let authentication = AuthenticationMiddleware(
            session,
            apply: { $1.headers["Authorization"] = "Bearer \($0.accessToken)" },
            expiry: { $0.expires - 60 }
        ) { expired in
            .create {
                guard let expired else { throw SignInError.needed }
                let refresh = Endpoint<Session>(
                    .post, "/token", body: .form(["grant_type": "refresh_token", "refresh_token": expired.refreshToken]))
                let session = try await login.request(refresh).value
                keep(session)
                return session
            }
        }
        (self.login, self.authentication, self.keep) = (login, authentication, keep)
        provider = DefaultAPIProvider(
            baseURL: baseURL, configuration: configuration, middlewares: [RetryMiddleware(), authentication])
    }

    func signIn(_ name: String, _ password: String) -> Single<Void> {
        let request = Endpoint<Session>(.post, "/token", body: .form(["grant_type": "password", "username": name, "password": password]))
        return login.request(request).map { [authentication, keep] session in
            keep(session)
            authentication.credential = session
        }
    }

    func signOut() {
        keep(nil)
        authentication.credential = nil
    }
}

private struct Session: Codable {
    let accessToken, refreshToken: String
    let expires: Date
}

private enum SignInError: Error { case needed }

// Read all pages

private func items(_ provider: some APIProvider) -> Single<[Item]> {
    provider.pages(Endpoint<[Item]>(.get, "/items")).all(\.self, maxPages: 100)
}

private func itemsByNumber(_ provider: some APIProvider) -> Single<[Item]> {
    @Sendable func page(_ number: Int) -> Endpoint<(number: Int, items: [Item])> {
        Endpoint<[Item]>(.get, "/items", query: ["page": number, "per_page": 100]).map { (number, $0) }
    }
    return provider.pages(page(1)) { last, _ in last.items.count < 100 ? nil : page(last.number + 1) }
        .all(\.items, maxPages: 100)
}

// Ask only for what has changed

private struct Cached<Value: Sendable>: Sendable {
    let value: Value
    let etag: String?
}

private func items(since cached: Cached<[Item]>? = nil) -> Endpoint<Cached<[Item]>> {
    Endpoint(.get, "/items", headers: ["If-None-Match": cached?.etag]) { response in
        if response.statusCode == 304, let cached { return cached }
        return Cached(value: try response.decode([Item].self), etag: response.value(forHTTPHeaderField: "ETag"))
    }
    .validating { response in
        guard 200...299 ~= response.statusCode || response.statusCode == 304 else { throw APIError.unacceptableStatus(response) }
    }
}

// Show how far an upload is

private func upload(_ photo: URL, report: @escaping @MainActor (Double) -> Void) -> Endpoint<Void> {
    Endpoint(.put, "/photo", body: .file(photo, contentType: "image/jpeg"))
        .onProgress(on: MainActor.shared) { progress in
            guard let total = progress.bytesToSend, total > 0 else { return }
            report(Double(progress.bytesSent) / Double(total))
        }
}

// Search while the user types

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

// Ask again until it is done

private func finished(_ job: Int, _ provider: some APIProvider, _ scheduler: any Scheduler) -> Single<Job> {
    provider.request(Endpoint<Job>(.get, "/jobs/\(job)")).flatMap { status in
        guard !status.isDone else { return .just(status) }
        return Single.just(job).delay(.seconds(2), scheduler: scheduler).flatMap { finished($0, provider, scheduler) }
    }
}

// Limit how many requests run

private func users(_ logins: [String], _ provider: some APIProvider) -> Single<[User]> {
    Single.zip(logins.map { provider.request(Endpoint<User>(.get, "/users/\($0)")) }, maxConcurrent: 4)
}

// One type for all errors

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

// Bind a value to a view, without relays

@MainActor
private final class Screen {
    var user = User()
    func show(_ error: any Error) {}
}

@MainActor
private func bind(_ provider: DefaultAPIProvider, to screen: Screen, _ bag: DisposeBag) {
    provider.request(Endpoint<User>(.get, "/me"))
        .observe(on: MainActor.shared)
        .subscribe(with: screen, onSuccess: { $0.user = $1 }, onFailure: { $0.show($1) })
        .disposed(by: bag)
}

// Use several APIs

private struct APIs: Sendable {
    let accounts: DefaultAPIProvider
    let files: DefaultAPIProvider

    init(configuration: URLSessionConfiguration = .default) {
        let shared: [any Middleware] = [RetryMiddleware(), LoggingMiddleware()]
        accounts = DefaultAPIProvider(
            baseURL: URL(string: "https://accounts.example.com"), configuration: configuration, middlewares: shared)
        files = DefaultAPIProvider(
            baseURL: URL(string: "https://files.example.com/v2"), configuration: configuration,
            middlewares: [DefaultHeadersMiddleware(["X-Client": "app"])] + shared)
    }
}

// Test an app that has no seam

private func makeConfiguration() -> URLSessionConfiguration {
    guard CommandLine.arguments.contains("--sample-data") else { return .default }
    MockURLProtocol.stub(.get, "/items", respond: .json(["a", "b"]))
    return MockURLProtocol.configuration
}

private func register() {
    _ = URLProtocol.registerClass(MockURLProtocol.self)
    MockURLProtocol.stub(.get, "/items", respond: .json(["a", "b"]))
}

// Show a request in SwiftUI

private func sampleProvider() -> DefaultAPIProvider {
    MockURLProtocol.stub(.get, "/search/repositories", respond: .json(["items": [String]()]))
    return DefaultAPIProvider(baseURL: GitHub.apiURL, transport: MockTransport())
}

// Call another server from a server on Linux

private struct Forecast: Codable { let text: String }

private struct Weather: Sendable {
    private let provider: DefaultAPIProvider
    private let scheduler: any Scheduler

    init(
        configuration: URLSessionConfiguration = .ephemeral,
        scheduler: any Scheduler = ConcurrentDispatchQueueScheduler(qos: .default)
    ) {
        self.scheduler = scheduler
        provider = DefaultAPIProvider(
            baseURL: URL(string: "https://weather.example.com"),
            transport: URLSessionTransport(configuration: configuration, maxResponseSize: 1_000_000),
            middlewares: [RetryMiddleware(RetryPolicy(maxAttempts: 2)), LoggingMiddleware()])
    }

    func forecast(for city: String) async throws -> Forecast {
        let forecast = Endpoint<Forecast>(.get, "/forecast", query: ["city": city])
        return try await provider.request(forecast)
            .timeout(.seconds(5), scheduler: scheduler)
            .value
    }
}

#if canImport(Security)
import Security

// Pin a certificate, on Apple's systems

private final class Pinning: NSObject, URLSessionDelegate {
    private let certificates: Set<Data>

    init(certificates: Set<Data>) { self.certificates = certificates }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust = challenge.protectionSpace.serverTrust else { return completionHandler(.performDefaultHandling, nil) }
        let leaf = (SecTrustCopyCertificateChain(trust) as? [SecCertificate])?.first
        guard SecTrustEvaluateWithError(trust, nil), let leaf, certificates.contains(SecCertificateCopyData(leaf) as Data) else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: trust))
    }
}

private func pinned(_ certificate: URL) throws -> DefaultAPIProvider {
    let pinning = Pinning(certificates: [try Data(contentsOf: certificate)])
    let session = URLSession(configuration: .default, delegate: pinning, delegateQueue: nil)
    return DefaultAPIProvider(baseURL: URL(string: "https://api.example.com"), session: session)
}
#endif
