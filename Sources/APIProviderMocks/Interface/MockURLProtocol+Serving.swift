import APIProvider
import Foundation

// What a server needs to serve a scope to other processes. It runs for days, so its scope keeps only the newest requests.
extension MockURLProtocol {
    /// The report of a request that ended with `error`: why it has no answer. `nil` if the error is that of a stub.
    @_spi(Serving) public static func report(of error: any Error) -> String? {
        isProblem(error) ? "\((error as? APIError)?.underlying ?? error)" : nil
    }

    /// Keeps only the newest requests of the scope: at most `count`, whose bodies have at most `byteCount` bytes together.
    @_spi(Serving) public static func keepRequests(_ count: Int, byteCount: Int) {
        scope.contents.withLock { $0.limit = (count, byteCount) }
    }

    /// The number of requests that the limit has removed.
    @_spi(Serving) public static var removedRequestCount: Int { scope.contents.withLock(\.removedRequestCount) }

    /// Removes the requests that have come and what they met, and keeps the stubs with their numbers of uses.
    @_spi(Serving) public static func forgetRequests() {
        var old = Scope.Contents()
        scope.contents.withLock { contents in
            swap(&contents.requests, &old.requests)
            swap(&contents.answered, &old.answered)
            swap(&contents.problems, &old.problems)
            swap(&contents.failures, &old.failures)
            (contents.requestByteCount, contents.removedRequestCount) = (0, 0)
        }
    }

    /// Ends `stub`: it answers no request anymore, and ``verify()`` does not ask for it.
    @_spi(Serving) public static func remove(_ stub: Stub) {
        // Released after unlocking.
        _ = scope.contents.withLock { contents in
            contents.stubs.firstIndex { $0.id == stub.id }.map { (contents.stubs.remove(at: $0), contents.uses.remove(at: $0)) }
        }
    }

    /// The number of requests that `stub` has answered.
    @_spi(Serving) public static func useCount(of stub: Stub) -> Int {
        scope.contents.withLock { contents in
            contents.stubs.firstIndex { $0.id == stub.id }.map { contents.uses[$0] } ?? 0
        }
    }
}

extension ReceivedRequest {
    /// The URL, the headers and the body without secrets, as reports show them.
    ///
    /// - Parameter maximumBodySize: The number of bytes of the body that are shown.
    /// - Returns: No body, if it is empty, is not text, or has more than sixteen times as many bytes.
    @_spi(Serving) public func redacted(
        maximumBodySize: Int
    ) -> (url: String, headers: [(name: String, value: String)], body: String?) {
        let redactor = ReportRedactor(for: prepared)
        // A secret is found only in the whole body.
        let isShown = !body.isEmpty && body.count / 16 <= maximumBodySize
        let text = isShown ? redactor.body(BodyLines(body, type: headers["Content-Type"] ?? "")) : nil
        return (
            redactor.url(url.absoluteString), headers.map { ($0.name, redactor.header($0.name, $0.value)) },
            text.map { String(decoding: $0.utf8.prefix(maximumBodySize), as: UTF8.self) }
        )
    }
}
