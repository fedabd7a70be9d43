#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import MiniRx

/// What the session of a stream calls its delegate on. While `calls` is suspended, libcurl soon reads no more from the server.
///
/// Foundation hands over each piece of a body without waiting for the delegate, so all of it would come into memory, however slow the reader
/// (Swift 6.3.1, swift-corelibs-foundation issue 3204). To suspend the task sends the request again. To block the session's thread would hold
/// back all sessions of the process, because they share it. What is left is to suspend the queue on which libcurl serves this one session.
final class StreamCallbackQueue: OperationQueue, @unchecked Sendable {  // What changes is under a lock.
    /// How many calls may wait for the delegate.
    private static let limit = 16

    let calls = DispatchQueue(label: "APIProvider.stream")
    private let state = Locked<(libcurl: DispatchQueue?, waiting: Int)>((nil, 0))

    /// Holds `session` back, whose delegate is called here.
    func hold(_ session: URLSession) {
        let libcurl = session.libcurl
        state.withLock { $0.libcurl = libcurl }
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.waiting += 1
            if state.waiting == Self.limit { state.libcurl?.suspend() }
        }
        calls.async { [state] in
            block()
            state.withLock { state in
                if state.waiting == Self.limit { state.libcurl?.resume() }
                state.waiting -= 1
            }
        }
    }
}

extension URLSession {
    /// The queue on which libcurl serves this one session. It is not public: `nil` if a later Foundation names it otherwise.
    var libcurl: DispatchQueue? { Mirror(reflecting: self).descendant("multiHandle", "queue") as? DispatchQueue }
}
#endif
