import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The thread or queue on which a session runs a protocol, and the way back to it.
///
/// It belongs to all sessions: what blocks it blocks them all, and on Linux what sends or cancels a request on it traps. The client of a
/// protocol may be told on no other.
struct LoadingThread: @unchecked Sendable {  // Elsewhere, only what a lock guards is touched of the protocol.
    let urlProtocol: MockURLProtocol
    #if !canImport(FoundationNetworking)
    private let runLoop = CFRunLoopGetCurrent()
    #endif

    /// To be called on it.
    init(of urlProtocol: MockURLProtocol) { self.urlProtocol = urlProtocol }

    /// Has the protocol's `startLoading` called there.
    func startLoading() {
        #if canImport(FoundationNetworking)
        // A session calls it again whenever a task is resumed; that of a task which is suspended is the app's to resume.
        if urlProtocol.task?.state != .suspended { urlProtocol.task?.resume() }
        #else
        CFRunLoopPerformBlock(runLoop, CFRunLoopMode.commonModes.rawValue) { [self] in urlProtocol.startLoading() }
        CFRunLoopWakeUp(runLoop)
        #endif
    }
}
