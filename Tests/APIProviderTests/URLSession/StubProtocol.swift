import Foundation
import TestSupport

/// A protocol class that takes every request. A subclass says what comes.
class StubProtocol: URLProtocol {
    static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.patient
        configuration.protocolClasses = [self]
        return configuration
    }

    override static func canInit(with request: URLRequest) -> Bool { true }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    func sendHead(_ status: Int = 200, _ fields: [String: String] = [:]) {
        guard let url = request.url, let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields)
        else { return }
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
    }

    func send(_ chunk: String) { client?.urlProtocol(self, didLoad: Data(chunk.utf8)) }

    func finish() { client?.urlProtocolDidFinishLoading(self) }

    func fail(_ error: any Error) { client?.urlProtocol(self, didFailWithError: error) }
}
