#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import MiniRx

/// A session's delegate queue. Runs each block on a serial dispatch queue, because an `Operation` costs several times as much as the
/// callback.
final class CallbackQueue: OperationQueue, @unchecked Sendable {  // Only adds a stored `let` of a Sendable type.
    private let queue = DispatchQueue(label: "APIProvider.session")

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }
}

/// A stream session's delegate queue. While `callQueue` is suspended, libcurl soon stops reading from the server.
///
/// Foundation delivers each piece of a body without waiting for the delegate, so a slow reader would hold the whole body in memory (Swift
/// 6.3.1, swift-corelibs-foundation issue 3204). Suspending the task would send the request again. Blocking the session's thread would
/// block all sessions in the process. So this class suspends libcurl's queue for this one session.
final class StreamCallbackQueue: OperationQueue, @unchecked Sendable {  // The mutable state is under a lock.
    /// The maximum number of waiting delegate calls.
    private static let limit = 16

    let callQueue = DispatchQueue(label: "APIProvider.stream")
    private let state = Locked<(curlQueue: DispatchQueue?, waiting: Int)>((nil, 0))

    /// Stores the libcurl queue of `session`, suspended while too many calls wait.
    func attach(to session: URLSession) {
        let curlQueue = session.curlQueue
        state.withLock { $0.curlQueue = curlQueue }
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.waiting += 1
            if state.waiting == Self.limit { state.curlQueue?.suspend() }
        }
        callQueue.async { [state] in
            block()
            state.withLock { state in
                if state.waiting == Self.limit { state.curlQueue?.resume() }
                state.waiting -= 1
            }
        }
    }
}

extension URLSession {
    /// libcurl's queue for this one session. Not public: `nil` if a later Foundation uses another name.
    var curlQueue: DispatchQueue? { Mirror(reflecting: self).descendant("multiHandle", "queue") as? DispatchQueue }
}
#endif
