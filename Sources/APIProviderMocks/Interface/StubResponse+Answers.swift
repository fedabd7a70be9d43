public import APIProvider
public import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// MARK: - One answer

extension StubResponse {
    /// A fixture's content, read by this call. If the file is missing, each request fails, and a test issue lists the existing files.
    ///
    /// A `.json` file has the `Content-Type` `application/json`, unless `headers` has another.
    ///
    /// - Parameters:
    ///   - dto: The fixture.
    ///   - statusCode: The status.
    ///   - headers: The header fields.
    public static func fixture(_ dto: some MockDTO, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(statusCode: statusCode, headers: headers, type: dto.isJSON ? "application/json" : nil) { steps(of: try dto.load()) }
    }

    /// JSON with members of several types: `.json(["message": "Not Found", "code": 404, "errors": []])`.
    ///
    /// - Parameters:
    ///   - value: The body.
    ///   - statusCode: The status.
    ///   - headers: The header fields.
    public static func json(_ value: JSONValue, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(statusCode: statusCode, headers: headers, type: "application/json") { [.data(try value.data)] }
    }

    /// The unchanged text, even invalid JSON. The `Content-Type` is `application/json`, unless `headers` has another.
    ///
    /// ```swift
    /// MockURLProtocol.stub(
    ///     .get, "/user", respond: .json(text: #"{"login": "octocat", "id": 1}"#))
    /// ```
    ///
    /// - Parameters:
    ///   - text: The body.
    ///   - statusCode: The status.
    ///   - headers: The header fields.
    public static func json(text: String, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(statusCode: statusCode, headers: headers, type: "application/json") { steps(of: Data(text.utf8)) }
    }

    /// The unchanged bytes. There is no `Content-Type`, unless `headers` has one.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - statusCode: The status.
    ///   - headers: The header fields.
    public static func data(_ data: Data, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(statusCode: statusCode, headers: headers) { steps(of: data) }
    }

    /// The status `code` with the header fields `headers`, and without a body.
    public static func status(_ code: Int, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(statusCode: code, headers: headers)
    }

    /// An error instead of a response: `.failure(URLError(.notConnectedToInternet))`.
    ///
    /// `DefaultAPIProvider` reports the same value. On Apple's systems, other code with a `URLSession` gets an `NSError` with your error's
    /// domain, code and description.
    public static func failure(_ error: any Error) -> StubResponse { StubResponse { _ in .failure(error) } }

    /// A redirect: `statusCode` with `location` in the header `Location`.
    ///
    /// A provider follows the redirect, and the stubs answer again. Other code with a `URLSession` gets the redirect as the response,
    /// because on Linux a protocol class cannot make a session follow.
    public static func redirect(to location: String, statusCode: Int = 302) -> StubResponse {
        .status(statusCode, headers: ["Location": location])
    }

    /// Calls `respond` for each request. If `respond` throws, the request fails with that error. A `DecodingError` or an `EncodingError` is
    /// also a test issue.
    ///
    /// The closure runs in the request's scope: on a background queue, or on the subscriber's thread with ``MockTransport``. You may add
    /// stubs, reset the mock and send requests there. Of a returned sequence, only the first answer is used. The closure's expectations
    /// belong to the test that created the stub, on Linux and from macOS 15 and iOS 18 on.
    public static func handler(_ respond: @escaping @Sendable (ReceivedRequest) throws -> StubResponse) -> StubResponse {
        let factory = ResponseFactory(runsUserCode: true, context: .current) { request in
            let response: StubResponse
            // The handler could not read the request, or encode an answer. No network fails like that.
            do { response = try respond(request) } catch  where error is DecodingError || error is EncodingError {
                throw MockFailure("The stub's handler threw: \(error.explanation)")
            }
            guard let factory = response.factory(after: 0) else {
                throw MockFailure("The handler returned an empty sequence.")
            }
            return factory(request)
        }
        return StubResponse([factory])
    }

    /// No answer. The request ends when cancelled, or after the `timeoutInterval`, by default 60 seconds.
    public static var never: StubResponse { StubResponse { _ in .never } }
}

// MARK: - Several answers

extension StubResponse {
    /// Each of `responses` once, in order, even if requests come at the same time.
    ///
    /// After the last one, requests fail, even if an older stub matches. To continue with older stubs, set `times` to the sequence's
    /// length.
    ///
    /// A sequence within a sequence is flattened.
    public static func sequence(_ responses: [StubResponse]) -> StubResponse {
        StubResponse(responses.flatMap(\.factories), repeatsLast: false)
    }

    /// Each of `responses` once, in order. After that, the last one answers all requests.
    public static func repeatingLast(_ responses: [StubResponse]) -> StubResponse {
        StubResponse(responses.flatMap(\.factories))
    }
}

// MARK: - Delays, chunks and failures

extension StubResponse {
    /// The same answer, later by `interval`. In a sequence, each answer is delayed.
    ///
    /// Other requests do not wait. Cancelling the request ends the delay. A delay beyond the request's `timeoutInterval` fails with
    /// `URLError.timedOut`.
    public func delayed(by interval: DispatchTimeInterval) -> StubResponse {
        changing { $0.delay += interval.seconds }
    }

    /// The same answer with the body in `count` pieces of about the same size.
    ///
    /// A session's delegate gets one piece after another. On Apple's systems, a session may join some.
    public func chunked(into count: Int) -> StubResponse {
        changing { $0 = $0.chunked(into: count) }
    }

    /// The same answer, but `error` follows the head and the body. For a ``StreamFeed``, call ``StreamFeed/fail(_:)`` instead.
    ///
    /// - Parameters:
    ///   - error: The error at the end.
    ///   - count: The number of body bytes before the error; `nil` is the whole body. The `Content-Length` stays.
    public func breakingOff(with error: any Error, after count: Int? = nil) -> StubResponse {
        changing { if $0.feed == nil { $0.breakOff(with: error, after: count) } }
    }
}
