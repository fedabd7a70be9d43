// costs WORK COUNT: does the work so many times, one after the other, for `strace`.
// costs measure COUNT WORK...: does each work so many times in `measured`, for `callgrind`, which notes what happens between its begin and
// its end. `run` compares each work with a yardstick, which does without this package what a program could not do without.
import APIProvider
import APIProviderCache
import APIProviderMocks
import Dispatch
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Item: Codable {
    let id: Int
    let name: String
    let owner: String
    let stars: Int
    let description: String?

    enum CodingKeys: String, CodingKey { case id, name, owner, stars = "stargazers_count", description }
}

let items = (0..<22).map {
    Item(id: $0, name: "repository \($0)", owner: "owner", stars: $0 * 7, description: "What it is for, in a few words")
}
/// 2.4 KB.
let body = try JSONEncoder().encode(items)
let baseURL = URL(string: "http://localhost") ?? URL(fileURLWithPath: "/")
let headers = ["Content-Type": "application/json"]

/// The smallest protocol that answers: at once.
final class Immediate: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: headers)
        else { fatalError("The request has no URL.") }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: body)
        client?.urlProtocolDidFinishLoading(self)
    }
}

let configuration = URLSessionConfiguration.ephemeral
configuration.protocolClasses = [Immediate.self]
configuration.urlCache = nil
let endpoint = { Endpoint<[Item]>(.get, "/users/octocat/repos", query: ["page": 1, "sort": "stars"]) }
let url = try endpoint().preparedRequest(relativeTo: baseURL).url

/// JSON of 10 KB, whose last member tells it from others.
func largeBody(_ last: Int) -> JSONValue {
    let items = (0..<220).map { JSONValue(["id": JSONValue($0), "name": "item", "tags": ["a", "b"]]) }
    return ["items": JSONValue(items), "last": JSONValue(last)]
}

let eventData = Data(#"{"id":1}"#.utf8)

/// Calls a closure once, whichever thread is first.
final class Callback: @unchecked Sendable {  // The lock guards the closure.
    private let lock = NSLock()
    private var closure: (@Sendable (Int) -> Void)?

    init(_ closure: @escaping @Sendable (Int) -> Void) { self.closure = closure }

    func succeed(_ value: Int) {
        lock.lock()
        let closure = self.closure
        self.closure = nil
        lock.unlock()
        closure?(value)
    }
}

@MainActor func work(_ name: String) -> (@escaping @Sendable () -> Void) -> Void {
    switch name {
    // MARK: Yardsticks
    case "bare":
        let session = URLSession(configuration: configuration)
        return { done in
            session.dataTask(with: URLRequest(url: url)) { data, _, _ in
                _ = try? JSONDecoder().decode([Item].self, from: data ?? Data())
                done()
            }.resume()
        }
    case "decoding":
        let decoder = JSONDecoder()
        return { done in
            _ = try? decoder.decode([Item].self, from: body)
            done()
        }
    case "event-data":
        return { done in
            for _ in 0..<100 { _ = try? JSONDecoder().decode([String: Int].self, from: eventData) }
            done()
        }
    case "url-request":
        return { done in
            var components = URLComponents(url: baseURL, resolvingAgainstBaseURL: false)
            components?.path = "/users/octocat/repos"
            components?.queryItems = [URLQueryItem(name: "page", value: "1"), URLQueryItem(name: "sort", value: "stars")]
            _ = components?.url.map { URLRequest(url: $0) }
            done()
        }
    case "callback":
        return { done in
            let callback = Callback { _ in done() }
            callback.succeed(1)
        }

    case "stub", "stubs-10", "stubs-100":
        // The oldest stub answers, and the others differ in the last member of their bodies.
        let count = Int(name.split(separator: "-").last ?? "") ?? 1
        for number in 0..<count { MockURLProtocol.stub(.post, "/stubs/\(count)", body: .json(largeBody(number)), respond: .status(204)) }
        let provider = DefaultAPIProvider(baseURL: baseURL, transport: MockTransport())
        let request = Endpoint<Void>(.post, "/stubs/\(count)", body: .data(Data("\(largeBody(0))".utf8), contentType: "application/json"))
        return { done in _ = provider.request(request).subscribe { _ in done() } }

    // MARK: Works
    case "provider", "closure":
        let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: headers)
        let closure = ClosureTransport { request in
            guard let response else { return .never() }
            return .just(APIResponse(request: request, httpResponse: response, data: body))
        }
        let transport: any Transport = name == "closure" ? closure : URLSessionTransport(configuration: configuration)
        let provider = DefaultAPIProvider(baseURL: baseURL, transport: transport)
        return { done in _ = provider.request(endpoint()).subscribe { _ in done() } }
    case "create":
        let single = Single<Int>.create { observer in
            observer(.success(1))
            return Disposables.create()
        }
        return { done in _ = single.subscribe { _ in done() } }
    case "maps":
        let single = Single<Int>.create { observer in
            observer(.success(1))
            return Disposables.create()
        }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }
        return { done in _ = single.subscribe { _ in done() } }
    case "flatMap":
        let single = Single.just(1).map { $0 + 1 }.flatMap { .just($0 + 1) }
        return { done in _ = single.subscribe { _ in done() } }
    case "zip":
        let single = Single.zip(Single.just(1).map { $0 }, Single.just(2).map { $0 })
        return { done in _ = single.subscribe { _ in done() } }
    case "mock":
        MockURLProtocol.stub(.get, "/users/*/repos", respond: .data(body, headers: ["Content-Type": "application/json"]))
        let provider = DefaultAPIProvider(baseURL: baseURL, transport: MockTransport())
        return { done in _ = provider.request(endpoint()).subscribe { _ in done() } }
    case "hit":
        MockURLProtocol.stub(.get, "/users/*/repos", respond: .data(body, headers: ["Cache-Control": "max-age=100000"]))
        let provider = DefaultAPIProvider(baseURL: baseURL, transport: MockTransport(), middlewares: [CacheMiddleware()])
        return { done in _ = provider.request(endpoint()).subscribe { _ in done() } }
    case "event":
        // A hundred events, which come whole.
        let text = String(repeating: "data: " + String(decoding: eventData, as: UTF8.self) + "\n\n", count: 100)
        let response = HTTPURLResponse(
            url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["Content-Type": "text/event-stream"])
        return { done in
            guard let response else { return done() }
            let whole = APIResponse(request: PreparedRequest(.get, url), httpResponse: response, data: Data(text.utf8))
            Task.detached {
                let events = try ServerSentEvents(ByteStream(whole), decoder: JSONDecoder())
                for try await event in events { _ = try event.decode([String: Int].self) }
                done()
            }
        }
    case "building":
        return { done in
            _ = try? endpoint().preparedRequest(relativeTo: baseURL)
            done()
        }
    default:
        fatalError("There is no such work: \(name)")
    }
}

let done = DispatchSemaphore(value: 0)

func repeatWork(_ count: Int, _ run: (@escaping @Sendable () -> Void) -> Void) {
    for _ in 0..<count {
        run { done.signal() }
        done.wait()
    }
}

/// The name is what `run` tells callgrind.
@inline(never)
@_cdecl("measured")
@MainActor func measured() { repeatWork(rounds, current) }

let isMeasured = CommandLine.arguments[1] == "measure"
let count = Int(CommandLine.arguments[2]) ?? 0
/// What takes little is done more often, so that what another thread does meanwhile counts for nothing.
let smallWorks: Set = ["callback", "create", "maps", "flatMap", "zip"]
var rounds = count
var current: (@escaping @Sendable () -> Void) -> Void = { $0() }
for name in isMeasured ? Array(CommandLine.arguments[3...]) : [CommandLine.arguments[1]] {
    current = work(name)
    rounds = isMeasured && smallWorks.contains(name) ? 20 * count : count
    // What happens once does not count.
    if isMeasured { repeatWork(10, current) }
    measured()
}
