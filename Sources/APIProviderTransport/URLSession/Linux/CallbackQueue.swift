#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import MiniRx

/// The delegate queue of a session. It runs each block on a serial dispatch queue, because an `Operation` costs several times as much as
/// the callback itself.
final class CallbackQueue: OperationQueue, @unchecked Sendable {  // It only adds a stored `let` of a Sendable type.
    private let queue = DispatchQueue(label: "APIProvider.session")

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }
}

/// The delegate queue of the session of a stream. While `callQueue` is suspended, libcurl soon reads no more from the server.
///
/// Foundation delivers each piece of a body without waiting for the delegate, so all of it would come into memory, however slow the reader
/// (Swift 6.3.1, swift-corelibs-foundation issue 3204). Suspending the task would send the request again. Blocking the session's thread
/// would block all sessions of the process, because they share it. So this suspends the queue on which libcurl serves this one session.
final class StreamCallbackQueue: OperationQueue, @unchecked Sendable {  // Its mutable state is under a lock.
    /// The maximum number of calls that may wait for the delegate.
    private static let limit = 16

    let callQueue = DispatchQueue(label: "APIProvider.stream")
    private let state = Locked<(curlQueue: DispatchQueue?, waiting: Int)>((nil, 0))

    /// Remembers the libcurl queue of `session`, which is suspended while too many calls wait.
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
    /// The queue on which libcurl serves this one session. It is not public: `nil` if a later Foundation names it otherwise.
    var curlQueue: DispatchQueue? { Mirror(reflecting: self).descendant("multiHandle", "queue") as? DispatchQueue }
}
#endif
