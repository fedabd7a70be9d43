// A request returns a `Single`, and the request's parts are in APIProviderTransport, so `import APIProvider` imports both. With
// `MemberImportVisibility`, each file would otherwise need three imports.
@_exported public import APIProviderTransport
@_exported public import MiniRx

/// Sends requests. Depend on this protocol instead of ``DefaultAPIProvider``, so that a test can supply the responses.
public protocol APIProvider: Sendable {
    /// Returns a single that builds and sends `request` at each subscription, and succeeds with the response's value.
    func request<Response: Sendable>(_ request: some APIRequest<Response>) -> Single<Response>
}

extension APIProvider {
    /// Returns a single that builds and sends `endpoint` at each subscription, and succeeds with the response's value.
    ///
    /// The same as ``request(_:)`` for any request. With a concrete type, the compiler can infer the types of a chain such as
    /// `provider.request(.me).flatMap { provider.request(.repositories(of: $0.login)) }`.
    public func request<Response: Sendable>(_ endpoint: Endpoint<Response>) -> Single<Response> { send(endpoint) }

    /// Calls the protocol's own `request(_:)`. In the overload for `Endpoint`, `request(endpoint)` would call itself without end.
    private func send<Response: Sendable>(_ request: some APIRequest<Response>) -> Single<Response> { self.request(request) }
}
