import Foundation

extension RequestOptions {
    /// Returns the API's message about an error. `nil` leaves the choice to the provider.
    ///
    /// ```swift
    /// nonisolated struct APIFailure: Decodable { let reason: String }
    ///
    /// let provider = DefaultAPIProvider(
    ///     baseURL: api, errorMessage: { try? $0.decode(APIFailure.self).reason })
    /// ```
    ///
    /// The text is part of the error's ``APIError/description`` and `localizedDescription`, so return a text for users, if possible in
    /// their language. The text is put on one line, without the request's secrets, and cut to 200 characters. A text without a visible
    /// character counts as none.
    ///
    /// The closure is called once for each error, on the event's thread: for a refused response, and for an undecodable one, even with a
    /// status in 200...299. It is not called for an element of a stream, nor for an error that a middleware throws.
    public var errorMessage: (@Sendable (APIResponse) -> String?)? {
        get { self[ErrorMessageKey.self]?.find }
        set { self[ErrorMessageKey.self] = newValue.map { ErrorMessageFinder(find: $0) } }
    }
}

private struct ErrorMessageFinder: Sendable { let find: @Sendable (APIResponse) -> String? }

private enum ErrorMessageKey: BuiltInOptionKey { static var defaultValue: ErrorMessageFinder? { nil } }

extension APIError {
    /// The error with the server's message from `errorMessage`.
    func addingMessage(from errorMessage: (APIResponse) -> String?) -> APIError {
        guard var response, response.errorMessage == nil else { return self }
        response.errorMessage = errorMessage(response)
        return mapResponse { _ in response }
    }
}
