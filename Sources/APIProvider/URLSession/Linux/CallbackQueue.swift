#if canImport(FoundationNetworking)
import Foundation

/// The delegate queue of a session. It runs each block on a serial dispatch queue, because an `Operation` costs several times as much as
/// the callback itself.
final class CallbackQueue: OperationQueue, @unchecked Sendable {  // It only adds a stored `let` of a Sendable type.
    private let queue = DispatchQueue(label: "APIProvider.session")

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }
}
#endif
