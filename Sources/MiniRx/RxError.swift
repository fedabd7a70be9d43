/// An error of an operator.
public enum RxError: Error {
    /// No event arrived in time.
    case timeout
}
