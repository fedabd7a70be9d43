public import Foundation

/// An error of an operator: ``timeout``. The other cases are RxSwift's, for code that names them.
public enum RxError: Error {
    /// An unknown error.
    case unknown
    /// An object was used after it was disposed.
    case disposed(object: any AnyObject & Sendable)
    /// A number did not fit its type.
    case overflow
    /// An argument was out of range.
    case argumentOutOfRange
    /// A sequence had no element.
    case noElements
    /// A sequence had more than one element.
    case moreThanOneElement
    /// No event arrived in time.
    case timeout
}

extension RxError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible {
    /// A sentence that says what happened.
    public var description: String {
        switch self {
        case .unknown: "An unknown error occurred."
        case .disposed(let object): "\(object) has been disposed already."
        case .overflow: "A number did not fit its type."
        case .argumentOutOfRange: "An argument is out of range."
        case .noElements: "The sequence has no element."
        case .moreThanOneElement: "The sequence has more than one element."
        case .timeout: "No event arrived in time."
        }
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The same as `description`, for `localizedDescription`.
    public var errorDescription: String? { description }
}
