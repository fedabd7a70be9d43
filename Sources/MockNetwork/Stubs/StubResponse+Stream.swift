public import APIProvider
public import Foundation

/// A step of a response that comes bit by bit: see ``StubResponse/stream(_:status:headers:)``.
public enum StreamStep: Sendable {
    /// Bytes of the body.
    case data(Data)
    /// A time in seconds in which nothing comes.
    case wait(TimeInterval)
    /// The connection breaks, and nothing follows.
    case failure(any Error)

    /// Text of the body, in UTF-8.
    public static func chunk(_ text: String) -> StreamStep { .data(Data(text.utf8)) }
}

// Responses that are read while they come.
extension StubResponse {
    /// A head, and then one step after the other.
    ///
    /// ```swift
    /// MockURLProtocol.stub(
    ///     .get, "/events",
    ///     respond: .stream([
    ///         .chunk("data: a\n"), .wait(0.5), .failure(URLError(.networkConnectionLost)),
    ///     ]))
    /// ```
    ///
    /// Waits pass on the scheduler of a ``MockTransport``: with a `TestScheduler`, in virtual time. A request that does not read its response
    /// while it comes gets all of it at the end.
    public static func stream(_ steps: [StreamStep], status: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(status: status, headers: headers, steps: { steps.map(Answer.Step.init) })
    }

    /// A head, and then what the test sends by hand. It answers one request.
    public static func stream(from feed: StreamFeed, status: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(status: status, headers: headers) {
            try feed.begin()
            return [.feed(feed)]
        }
    }

    /// Server-sent events that the test sends by hand. It answers one request.
    public static func events(from feed: StreamFeed, headers: HTTPHeaders = [:]) -> StubResponse {
        stream(from: feed, headers: headers.adding(type: "text/event-stream"))
    }

    /// Server-sent events, each of which comes `interval` seconds after the one before.
    ///
    /// ```swift
    /// MockURLProtocol.stub(
    ///     Chat(prompt: "Hi"), respond: .events(["Hel", "lo", "[DONE]"], every: 0.1))
    /// ```
    public static func events(_ events: [ServerSentEvent], every interval: TimeInterval = 0, headers: HTTPHeaders = [:]) -> StubResponse {
        stream(events.flatMap { [.wait(interval), .chunk($0.text)] }, headers: headers.adding(type: "text/event-stream"))
    }

    /// Server-sent events of the type `message` with these data.
    public static func events(_ data: [String], every interval: TimeInterval = 0, headers: HTTPHeaders = [:]) -> StubResponse {
        events(data.map { ServerSentEvent(data: $0) }, every: interval, headers: headers)
    }

    /// Values as JSON, a line each, each of which comes `interval` seconds after the one before. If a value cannot be encoded, the connection
    /// breaks with that error in its place.
    public static func jsonLines(
        _ values: [some Encodable], every interval: TimeInterval = 0, headers: HTTPHeaders = [:]
    ) -> StubResponse {
        let steps = values.flatMap { value -> [StreamStep] in
            do { return [.wait(interval), .data(try JSONEncoder.sorting.encode(value) + Data("\n".utf8))] } catch {
                return [.failure(error)]
            }
        }
        return stream(steps, headers: headers.adding(type: "application/x-ndjson"))
    }
}

extension Answer.Step {
    fileprivate init(_ step: StreamStep) {
        switch step {
        case .data(let data): self = .chunk(data)
        case .wait(let seconds): self = .wait(seconds)
        case .failure(let error): self = .failure(error)
        }
    }
}

extension ServerSentEvent {
    /// The event as a server sends it.
    var text: String {
        var lines = data.split(separator: "\n", omittingEmptySubsequences: false).map { "data: \($0)" }
        if !lastEventID.isEmpty { lines.insert("id: \(lastEventID)", at: 0) }
        if type != "message" { lines.insert("event: \(type)", at: 0) }
        return lines.joined(separator: "\n") + "\n\n"
    }
}

extension HTTPHeaders {
    /// These, with a Content-Type unless they have one.
    fileprivate func adding(type: String) -> HTTPHeaders {
        var headers = self
        if headers["Content-Type"] == nil { headers["Content-Type"] = type }
        return headers
    }
}
