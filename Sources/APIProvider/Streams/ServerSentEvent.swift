import Foundation

/// An event of a ``ServerSentEvents`` stream.
public struct ServerSentEvent: Sendable, Hashable {
    /// The event's type: the server's, or `message`.
    public var type: String
    /// The data. Several lines are joined with LF.
    public var data: String
    /// The server's last identifier, with this event or before; empty without one.
    public var lastEventID: String
    /// The event's response, to decode the data and to report errors.
    private var source = Source()

    /// Creates an event, for a test.
    ///
    /// - Parameters:
    ///   - type: The event's type.
    ///   - data: The data.
    ///   - lastEventID: The server's last identifier, or an empty text.
    public init(type: String = "message", data: String = "", lastEventID: String = "") {
        (self.type, self.data, self.lastEventID) = (type, data, lastEventID)
    }

    init(type: String, data: String, lastEventID: String, source: Source) {
        self.init(type: type, data: data, lastEventID: lastEventID)
        self.source = source
    }

    /// Decodes the data as `type`, with the provider's decoder, or as JSON without a provider.
    ///
    /// - Throws: ``APIError/decoding(_:expected:underlying:)`` for data that does not fit the type; for your own event, the
    ///   `DecodingError`.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        // Events are UTF-8, with any charset in the Content-Type.
        if T.self == String.self || T.self == String?.self, source.response != nil, let text = data as? T { return text }
        let data = Data(data.utf8)
        guard let response = source.response else { return try JSONDecoder().decodeWithoutTrapping(type, from: data) }
        return try response.decode(type, from: data) { response.part(named: "the event", data: data) }
    }

    /// The response with an event. Events with equal texts are equal, whatever their source.
    final class Source: Sendable, Hashable {
        let response: APIResponse?

        init(_ response: APIResponse? = nil) { self.response = response }

        static func == (_: Source, _: Source) -> Bool { true }
        func hash(into _: inout Hasher) {}
    }
}
