import Foundation

/// An event of a ``ServerSentEvents`` stream.
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event: `message` unless the server names another.
    public var type: String
    /// The data. Several lines are joined with LF.
    public var data: String
    /// The last identifier that the server has sent, with this event or before. Empty if it has sent none.
    public var lastEventID: String
    /// The response that contained the event. It says how to decode the data, and is part of the error if that fails.
    private var source = Source()

    /// Creates an event, for a test.
    ///
    /// - Parameters:
    ///   - type: The type of the event.
    ///   - data: The data.
    ///   - lastEventID: The last identifier that the server has sent, or an empty text.
    public init(type: String = "message", data: String = "", lastEventID: String = "") {
        (self.type, self.data, self.lastEventID) = (type, data, lastEventID)
    }

    init(type: String, data: String, lastEventID: String, source: Source) {
        self.init(type: type, data: data, lastEventID: lastEventID)
        self.source = source
    }

    /// Decodes the data as `type`, with the decoder of the provider that got the event, or as JSON if there was no provider.
    ///
    /// - Throws: ``APIError/decoding(_:expected:underlying:)`` if the data does not fit the type. For an event that you created yourself,
    ///   the `DecodingError`.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        // Events are UTF-8, whatever charset the Content-Type names.
        if T.self == String.self || T.self == String?.self, source.response != nil, let text = data as? T { return text }
        let data = Data(data.utf8)
        guard let response = source.response else { return try JSONDecoder().decodeWithoutTrapping(type, from: data) }
        return try response.decode(type, from: data) { response.excerpt("the event", data) }
    }

    /// The response that contained an event. Events with equal texts are equal, whatever their source.
    final class Source: Sendable, Hashable {
        let response: APIResponse?

        init(_ response: APIResponse? = nil) { self.response = response }

        static func == (_: Source, _: Source) -> Bool { true }
        func hash(into _: inout Hasher) {}
    }
}
