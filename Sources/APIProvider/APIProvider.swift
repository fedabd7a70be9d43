public import MiniRx

/// Sends requests. Depend on this protocol where a test should answer instead of the network.
public protocol APIProvider: Sendable {
    /// Returns a single that builds and sends `request` at each subscription, and succeeds with the value of its response.
    func request<Response: Sendable>(_ request: some APIRequest<Response>) -> Single<Response>
}

extension APIProvider {
    /// Not available: a request is sent when its `Single` is subscribed to.
    @available(*, unavailable, message: "subscribe to what request(_:) returns: provider.request(…).subscribe { result in … }")
    public func request<Response: Sendable>(
        _ request: some APIRequest<Response>, completion: @escaping @Sendable (Result<Response, any Error>) -> Void
    ) -> any Disposable {
        self.request(request).subscribe(completion)
    }
}
