import Foundation

extension RequestOptions {
    /// Says where the API has its message about an error. `nil` leaves it to the provider.
    ///
    /// ```swift
    /// nonisolated struct APIFailure: Decodable { let reason: String }
    ///
    /// let provider = DefaultAPIProvider(
    ///     baseURL: api, errorMessage: { try? $0.decode(APIFailure.self).reason })
    /// ```
    ///
    /// The text stands in the error's ``APIError/description`` and in its `localizedDescription`, so return what people may read, in their
    /// language if the server has it. Secrets of the request are replaced in it, it is put on one line, and it is cut to 200 characters. A text
    /// without a visible character counts as none.
    ///
    /// The closure is called once, when the error is made, on the thread of the event: for a response that the endpoint refuses, and for one
    /// that does not decode, also of a status in 200...299.
    public var errorMessage: (@Sendable (APIResponse) -> String?)? {
        get { self[ErrorMessageKey.self]?.find }
        set { self[ErrorMessageKey.self] = newValue.map { ErrorMessageFinder(find: $0) } }
    }
}

private struct ErrorMessageFinder: Sendable { let find: @Sendable (APIResponse) -> String? }

private enum ErrorMessageKey: BuiltInOptionKey { static var defaultValue: ErrorMessageFinder? { nil } }

extension APIError {
    /// The error with the server's message as `errorMessage` finds it.
    func asking(_ errorMessage: (APIResponse) -> String?) -> APIError {
        guard var response, response.errorMessage == nil else { return self }
        response.errorMessage = errorMessage(response)?.nonblank
        return mapResponse { _ in response }
    }
}
