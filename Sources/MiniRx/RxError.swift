public import Foundation

/// An error of an operator.
public enum RxError: Error {
    /// No event arrived in time.
    case timeout
}

extension RxError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible {
    /// A sentence that says what happened.
    public var description: String { "No event arrived in time." }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The same as `description`, for `localizedDescription`.
    public var errorDescription: String? { description }
}
