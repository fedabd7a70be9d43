import Foundation

/// What a session calls its delegate on, one call at a time: an `OperationQueue`, because a session takes nothing else, that hands the
/// calls to a dispatch queue. An operation costs several times what the call does.
final class CallbackQueue: OperationQueue, @unchecked Sendable {  // It adds a constant alone.
    private let queue = DispatchQueue(label: "APIProvider.session")

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }
}
