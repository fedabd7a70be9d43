/// What the operators themselves fail with.
public enum RxError: Error {
    /// No event came in time.
    case timeout
}
