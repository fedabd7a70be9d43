@_spi(Transports) import APIProvider
import AsyncHTTPClient
import Foundation
import MiniRx

@testable import AsyncHTTPClientTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What the suites of the root package run against here: a transport that takes from a configuration what it can.
struct TestedTransport: Transport {
    private let transport: AsyncHTTPClientTransport

    init(configuration: URLSessionConfiguration, maxResponseSize: Int? = nil) {
        var settings = ExchangeTransport.Settings()
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] { settings.additionalHeaders["\(name)"] = "\(value)" }
        if configuration.httpShouldSetCookies { settings.cookies = configuration.httpCookieStorage }
        settings.maxResponseSize = maxResponseSize
        settings.timeoutInterval = configuration.timeoutIntervalForRequest
        settings.timeoutIntervalForResource = configuration.timeoutIntervalForResource
        transport = AsyncHTTPClientTransport(Client(HTTPClient.Configuration(), maxResponseSize: maxResponseSize), settings)
    }

    func send(_ request: PreparedRequest) -> Single<APIResponse> { transport.send(request) }
}

extension TestedTransport {
    /// What this transport may make of a fault: the README lists what differs.
    static func outcomes(of fault: Fault) -> [Fault.Outcome] {
        switch fault.name {
        case "sends a status line that ends after the status": [.value("")]
        case "sends a header in Latin-1", "sends a header without a space after its colon": [.value("ok")]
        case "sends a gzip that breaks off, under a Content-Length that fits", "sends zeros behind the end of a gzip": [.cannotDecode]
        case "names a charset as the Content-Encoding": [.value("ok")]
        case "sends a 1xx for ever":
            [.transport("timedOut", -1001, "it timed out; is HOST:PORT up, and is the timeout long enough?")]
        case "answers before it has read anything":
            // The answer may come before the client has begun to send.
            [
                fault.outcome,
                .transport(
                    "networkConnectionLost", -1005,
                    "HOST closed the connection before its answer came; does it take a body of 5000000 bytes?"),
            ]
        default: [fault.outcome]
        }
    }
}
