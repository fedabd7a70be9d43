/// A response whose body does not matter: whatever comes decodes into it.
public struct Empty: Decodable, Sendable, Equatable {
    /// The one value.
    public init() {}
}
