import APIProvider
import APIProviderMocks
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderCache

/// A provider with a cache, whose clock the test moves.
final class World: Sendable {
    private let time = Locked(Date(timeIntervalSince1970: 1_700_000_000))
    let cache: CacheMiddleware
    let provider: DefaultAPIProvider

    init(_ store: some CacheStore = MemoryCache(), behind: [any Middleware] = [], transport: any Transport = MockTransport()) {
        let time = time
        // Other tests sign out meanwhile.
        cache = CacheMiddleware(store, scheduler: nil, now: { time.withLock { $0 } }, currentSignOutCount: { 0 })
        provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [cache] + behind)
    }

    /// With a stored response of `age` seconds for `/a`. The mock goes on answering.
    convenience init(storing headers: HTTPHeaders, age: TimeInterval = 0) async throws {
        self.init()
        serve(headers)
        _ = try await get()
        pass(age)
    }

    var now: Date { time.withLock { $0 } }

    func pass(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }

    /// The HTTP date in `seconds`.
    func date(_ seconds: TimeInterval = 0) -> String { httpDate(now + seconds) }

    /// Sends a request, and returns its response with any status.
    func get(
        _ path: RequestPath = "/a", _ headers: HTTPHeaders = [:], method: HTTPMethod = .get, _ policy: CachePolicy = .standard
    ) async throws -> APIResponse {
        try await provider.request(
            Endpoint<APIResponse>(method, path, headers: headers) { $0 }.validating { _ in }.option(\.cachePolicy, policy)
        ).value
    }

    /// Answers with the number of the request, or with a 304 if the request has the entity tag.
    func serve(_ headers: HTTPHeaders, at path: String = "/a", status: Int = 200) {
        let count = Locked(0)
        MockURLProtocol.stub(
            "anything at \(path)", where: { $0.path == path },
            respond: .handler { request in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if let tag = headers["ETag"], request.headers["If-None-Match"] == tag { return .status(304, headers: headers) }
                return .data(Data("\(number)".utf8), statusCode: status, headers: headers)
            })
    }

    var requests: Int { MockURLProtocol.requests.count }
}

extension APIResponse {
    var text: String { String(decoding: data, as: UTF8.self) }
}

let fresh: HTTPHeaders = ["Cache-Control": "max-age=10"]

func httpDate(_ date: Date) -> String {
    let formatter = DateFormatter()
    (formatter.locale, formatter.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(secondsFromGMT: 0))
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: date)
}

/// A cache whose requests the test answers in any order. Nothing waits here: each event comes before its call returns.
final class Hand: Sendable {
    private let time = Locked(Date(timeIntervalSince1970: 1_700_000_000))
    private let sent = Log<(request: PreparedRequest, answer: Single<APIResponse>.SingleObserver)>()
    private let bag = DisposeBag()
    let cache: CacheMiddleware
    let languages = Locked(["de"])
    let progress = Log<TransferProgress>()

    init(_ store: some CacheStore = MemoryCache()) {
        let (time, languages) = (time, languages)
        // Other tests sign out meanwhile.
        cache = CacheMiddleware(
            store, scheduler: nil, now: { time.withLock { $0 } }, languages: { languages.withLock { $0 } }, currentSignOutCount: { 0 })
    }

    /// With a stored response of `age` seconds for `/a`.
    convenience init(_ store: some CacheStore = MemoryCache(), storing headers: HTTPHeaders, _ text: String, age: TimeInterval) {
        self.init(store)
        send()
        answer(0, 200, headers, text)
        pass(age)
    }

    func pass(_ seconds: TimeInterval) { time.withLock { $0 += seconds } }

    var requests: [PreparedRequest] { sent.entries.map(\.request) }

    /// Sends a request, and returns the log of its response.
    @discardableResult
    func send(
        _ path: String = "/a", _ method: HTTPMethod = .get, _ headers: HTTPHeaders = [:], _ policy: CachePolicy = .standard,
        isAuthenticated: Bool = true, hasCookies: Bool = true, token: String? = nil
    ) -> Log<APIResponse> {
        var request = PreparedRequest(method, example.appendingPathComponent(path), headers: headers)
        request.urlRequest.httpShouldHandleCookies = hasCookies
        (request.options.cachePolicy, request.options.isAuthenticated) = (policy, isAuthenticated)
        request.reportProgress = { [progress] in progress.append($0) }
        let log = Log<APIResponse>()
        let next: Middleware.Next = { [sent] request in
            .create { observer in
                var request = request
                if let token { request.headers["Authorization"] = token }
                sent.append((request, observer))
                return Disposables.create()
            }
        }
        cache.intercept(request, next: next).subscribe(onSuccess: { log.append($0) }).disposed(by: bag)
        return log
    }

    /// Answers the request that was sent as number `index`.
    func answer(_ index: Int, _ status: Int = 200, _ headers: HTTPHeaders = fresh, _ text: String = "") {
        guard sent.count > index else {
            Issue.record("Number \(index) was not sent.")
            return
        }
        let (request, answer) = sent.entries[index]
        answer(.success(APIResponse(to: request, statusCode: status, headers: headers, data: Data(text.utf8))))
    }

    /// The body of the stored response, if any.
    func stored(_ path: String = "/a", isAuthenticated: Bool = true, hasCookies: Bool = true) -> String? {
        let response = send(path, "GET", [:], .onlyIfCached, isAuthenticated: isAuthenticated, hasCookies: hasCookies).entries.last
        return response?.statusCode == 504 ? nil : response?.text
    }
}

extension MemoryCache {
    convenience init() { self.init(maxBytes: 20_000_000) }
}

extension DiskCache {
    convenience init(_ folder: URL) { self.init(folder, maxBytes: 100_000_000) }
}

/// A store in memory that logs each change, and runs an action before the next call.
final class HookedStore: CacheStore {
    let log = Log<String>()
    let beforeReading = Locked<Action?>(nil)
    let beforeWriting = Locked<Action?>(nil)
    let beforeRemoval = Locked<Action?>(nil)
    private let cache = MemoryCache()

    func responses(for key: String) -> [CachedResponse] {
        beforeReading.withLock { $0.take() }?()
        return cache.responses(for: key)
    }

    func replace(_ responses: [CachedResponse], for key: String) {
        beforeWriting.withLock { $0.take() }?()
        cache.replace(responses, for: key)
        log.append("\(responses.count) for \(key)")
    }

    func removeAll() {
        beforeRemoval.withLock { $0.take() }?()
        cache.removeAll()
        log.append("removed")
    }
}
