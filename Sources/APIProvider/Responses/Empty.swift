/// A response whose body is ignored. Any body decodes into it.
public struct Empty: Decodable, Sendable, Equatable {
    /// Creates the value.
    public init() {}
}
