import APIProvider
import APIProviderMocks
import Benchmark
import Dispatch
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Each run is of 100 requests, one at a time. Names are "work, library": `ratios` pairs them by the work.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.throughput, .wallClock], timeUnits: .microseconds, warmupIterations: 5, maxDuration: .seconds(2))

    let body = Data(repeating: UInt8(ascii: "a"), count: 2400)
    let mock = URLSession(configuration: .ephemeral(MockURLProtocol.self))
    let smallest = URLSession(configuration: .ephemeral(Smallest.self))
    let request = URLRequest(url: URL(string: "http://localhost/items") ?? URL(fileURLWithPath: "/"))

    for (work, stubs) in [("a stub", 1), ("the last of 20 stubs", 20)] {
        Benchmark("\(work), APIProviderMocks") { _ in
            MockURLProtocol.reset()
            MockURLProtocol.stub(.get, "/items", respond: .data(body))
            for number in 1..<stubs { MockURLProtocol.stub(.get, "/items/\(number)", respond: .status(404)) }
            for _ in 0..<100 { send(request, by: mock) }
        }
        Benchmark("\(work), URLProtocol") { _ in
            for _ in 0..<100 { send(request, by: smallest) }
        }
    }

    Benchmark("through the provider and MockTransport, APIProviderMocks") { _ in
        MockURLProtocol.reset()
        MockURLProtocol.stub(.get, "/items", respond: .data(body))
        let provider = DefaultAPIProvider(baseURL: URL(string: "http://localhost"), transport: MockTransport())
        for _ in 0..<100 { send(by: provider) }
    }
    let provider = DefaultAPIProvider(baseURL: URL(string: "http://localhost"), configuration: .ephemeral(Smallest.self))
    Benchmark("through the provider and MockTransport, URLProtocol") { _ in
        for _ in 0..<100 { send(by: provider) }
    }

    Benchmark("a scope, APIProviderMocks") { _ in
        for _ in 0..<100 { MockURLProtocol.withScope { blackHole(MockURLProtocol.current) } }
    }
}

private func send(_ request: URLRequest, by session: URLSession) {
    let done = DispatchSemaphore(value: 0)
    session.dataTask(with: request) { data, _, _ in
        guard data?.count == 2400 else { fatalError("The benchmark got no answer.") }
        done.signal()
    }.resume()
    done.wait()
}

private func send(by provider: DefaultAPIProvider) {
    let done = DispatchSemaphore(value: 0)
    let subscription = provider.request(Endpoint<Data>(.get, "/items")).subscribe { event in
        guard case .success = event else { fatalError("The benchmark got no answer: \(event)") }
        done.signal()
    }
    done.wait()
    subscription.dispose()
}

extension URLSessionConfiguration {
    fileprivate static func ephemeral(_ urlProtocol: URLProtocol.Type) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [urlProtocol]
        configuration.urlCache = nil
        return configuration
    }
}

/// The smallest protocol that answers.
private final class Smallest: URLProtocol {
    private static let body = Data(repeating: UInt8(ascii: "a"), count: 2400)

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        guard let url = request.url, let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
        else { fatalError("The benchmark asks for what its protocol has not.") }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Self.body)
        client?.urlProtocolDidFinishLoading(self)
    }
}
