public import APIProvider
public import Dispatch
import Foundation

// Streamed responses.
extension StubResponse {
    /// A head, and then one step after another.
    ///
    /// ```swift
    /// MockURLProtocol.stub(
    ///     .get, "/events",
    ///     respond: .stream([
    ///         .chunk("data: a\n"), .wait(.milliseconds(500)),
    ///         .failure(URLError(.networkConnectionLost)),
    ///     ]))
    /// ```
    ///
    /// A ``MockTransport`` schedules waits on its scheduler, with a `TestScheduler` in virtual time. A request for a whole body gets the
    /// body at the end.
    ///
    /// - Parameters:
    ///   - steps: The body.
    ///   - statusCode: The status.
    ///   - headers: The header fields.
    public static func stream(_ steps: [Step], statusCode: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(statusCode: statusCode, headers: headers, hasLength: false) { steps }
    }

    /// A response to one request. The test sends the body through `feed`.
    ///
    /// - Parameters:
    ///   - feed: Sends the body.
    ///   - statusCode: The status.
    ///   - headers: The header fields.
    public static func stream(from feed: StreamFeed, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(statusCode: statusCode, headers: headers, feed: feed)
    }

    /// A response to one request with the header fields `headers`. The test sends server-sent events through `feed`.
    public static func events(from feed: StreamFeed, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(statusCode: 200, headers: headers, type: "text/event-stream", feed: feed)
    }

    /// Server-sent events, `interval` apart, with the header fields `headers`. If an event's type or identifier contains a line break or a
    /// NUL, each request fails, and the test gets an issue.
    ///
    /// ```swift
    /// let events = ["Hel", "lo", "[DONE]"].map { ServerSentEvent(data: $0) }
    /// MockURLProtocol.stub(
    ///     Chat(prompt: "Hi"), respond: .events(events, every: .milliseconds(100)))
    /// ```
    public static func events(_ events: [ServerSentEvent], every interval: DispatchTimeInterval = .seconds(0), headers: HTTPHeaders = [:])
        -> StubResponse
    {
        StubResponse(statusCode: 200, headers: headers, type: "text/event-stream", hasLength: false) {
            try events.flatMap { [.wait(interval), .chunk(try $0.text)] }
        }
    }
}
