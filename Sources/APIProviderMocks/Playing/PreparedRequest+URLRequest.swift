import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension PreparedRequest {
    /// A protocol class's request. The body may be a stream.
    init(_ request: URLRequest) {
        self.init(.get, request.url ?? URL(fileURLWithPath: "/"))
        var head = request
        (head.httpBody, head.httpBodyStream) = (nil, nil)
        urlRequest = head
        timeoutInterval = request.timeoutInterval
        body = (request.httpBody ?? request.httpBodyStream.map { Data(reading: $0) }).map { RequestBody($0) }
    }

    /// A session's error instead of sending the request; `nil` for a request to send.
    var sessionError: URLError? {
        if url.scheme?.isHTTP == false { return URLError(.unsupportedURL, userInfo: [NSURLErrorFailingURLErrorKey: url]) }
        guard method == .get, let body, body.count > 0 else { return nil }
        return URLError(
            .dataLengthExceedsMaximum, reason: "a URLSession sends no GET with a body", userInfo: [NSURLErrorFailingURLErrorKey: url])
    }

    /// A protocol class's request, with the body in memory.
    var urlRequestWithBody: URLRequest {
        var request = urlRequest
        request.httpBody = try? body?.data()
        return request
    }
}

extension Data {
    /// Reads all bytes of `stream`.
    fileprivate init(reading stream: InputStream) {
        self.init()
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let read = stream.read(&buffer, maxLength: buffer.count), read > 0 { append(contentsOf: buffer[..<read]) }
    }
}
