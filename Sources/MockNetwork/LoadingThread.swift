import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The thread or queue on which a session runs a protocol class.
///
/// All sessions share it. Code that blocks it blocks them all. On Linux, code that sends or cancels a request on it traps. The client of a
/// protocol must be called on it.
struct LoadingThread: @unchecked Sendable {  // Other threads use only the state of the protocol that a lock guards.
    let urlProtocol: MockURLProtocol
    #if !canImport(FoundationNetworking)
    private let runLoop = CFRunLoopGetCurrent()
    #endif

    /// Call it on the thread.
    init(of urlProtocol: MockURLProtocol) { self.urlProtocol = urlProtocol }

    /// Calls the protocol's `startLoading` on the thread.
    func startLoading() {
        #if canImport(FoundationNetworking)
        // A session calls it whenever a task is resumed. A suspended task is for the app to resume.
        if urlProtocol.task?.state != .suspended { urlProtocol.task?.resume() }
        #else
        CFRunLoopPerformBlock(runLoop, CFRunLoopMode.commonModes.rawValue) { [self] in urlProtocol.startLoading() }
        CFRunLoopWakeUp(runLoop)
        #endif
    }
}

extension Error {
    /// The error in the form that a protocol class reports.
    var reported: any Error {
        #if canImport(FoundationNetworking)
        return self  // A session passes on this same error.
        #else
        return packedForSession
        #endif
    }
}

#if !canImport(FoundationNetworking)
// What needs a workaround on Linux alone, see MockURLProtocol+Linux.swift.
extension MockURLProtocol {
    var wholeRequest: PreparedRequest { PreparedRequest(request) }
    func playable(_ answer: Answer) -> Answer { answer }
    var refusal: MockFailure? { nil }
    var isOver: Bool { true }
}
#endif
