public import MiniRx

/// Sends requests. Depend on this protocol where a test is to answer instead of the network.
public protocol APIProvider: Sendable {
    /// A single that builds and sends `request` at each subscription, and succeeds with what the response decodes into.
    func request<Request: APIRequest>(_ request: Request) -> Single<Request.Response>
}
