/// A response whose body is ignored. Any body decodes into it.
public struct EmptyResponse: Decodable, Sendable, Equatable {
    /// Creates the value.
    public init() {}
}
