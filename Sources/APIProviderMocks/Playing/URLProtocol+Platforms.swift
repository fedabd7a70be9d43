import APIProvider
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A protocol class, and the thread or queue on which a session runs it.
///
/// All sessions share it. Code that blocks it blocks them all. On Linux, code that sends or cancels a request on it traps. The client of a
/// protocol must be called on it.
struct LoadingContext: @unchecked Sendable {  // Other threads use only the protocol's `task`.
    let urlProtocol: URLProtocol
    #if !canImport(FoundationNetworking)
    private let runLoop = CFRunLoopGetCurrent()
    #endif

    /// Call it on the thread.
    init(of urlProtocol: URLProtocol) { self.urlProtocol = urlProtocol }

    /// Calls the protocol's `startLoading` on the thread.
    func startLoading() {
        #if canImport(FoundationNetworking)
        // A session calls the protocol's `startLoading` whenever a task is resumed. If the app has suspended the task, the app must resume
        // it.
        if urlProtocol.task?.state != .suspended { urlProtocol.task?.resume() }
        #else
        CFRunLoopPerformBlock(runLoop, CFRunLoopMode.commonModes.rawValue) { [self] in urlProtocol.startLoading() }
        CFRunLoopWakeUp(runLoop)
        #endif
    }
}

// MARK: - Errors

extension Error {
    /// The error in the form that a protocol class reports.
    var forClient: any Error {
        #if canImport(FoundationNetworking)
        return self  // A session passes on this same error.
        #else
        return packedForSession
        #endif
    }
}

// MARK: - Workarounds for Linux

#if canImport(FoundationNetworking)
// Workarounds for defects of Foundation on Linux, seen with Swift 6.1 to 6.3.1, and described in Documentation/Upstream.md. Where they need
// private state, reflection reads it. If it finds nothing, only the workaround is lost.

extension URLProtocol {
    /// The request with its body. The request of an upload task comes without one.
    var requestWithBody: PreparedRequest {
        var whole = PreparedRequest(request)
        guard let task = task as? URLSessionUploadTask, request.httpBodyStream == nil, let body = task.uploadedBody else { return whole }
        whole.body = RequestBody(body)
        return whole
    }

    /// Whether the task has a completion handler. On Linux, such a task gets only the last of several chunks.
    ///
    /// Call it on the loading thread, where the session changes its registry of tasks.
    var joinsChunks: Bool { task?.hasCompletionHandler == true }

    /// The error for a task that cannot be answered. Otherwise `nil`.
    ///
    /// If a protocol class completes a download task, the process ends (swift-corelibs-foundation issues 3367 and 5465). If it fails the
    /// task, the process does not. The stream of an `uploadTask(withStreamedRequest:)` reaches no protocol class.
    var unsupportedTaskError: MockFailure? {
        if task is URLSessionDownloadTask {
            return MockFailure(
                "Foundation on Linux cannot serve a download task from a protocol class such as MockURLProtocol: use a data task, or "
                    + "an Endpoint(…, downloadingTo:) with a DefaultAPIProvider.")
        }
        guard (task as? URLSessionUploadTask)?.isStreamed == true, request.httpBodyStream == nil else { return nil }
        return MockFailure(
            "Foundation on Linux gives no protocol class such as MockURLProtocol the stream of an uploadTask(withStreamedRequest:): use "
                + "uploadTask(with:from:), or a body of a DefaultAPIProvider.")
    }

    /// Whether no `startLoading` follows a `stopLoading`.
    ///
    /// Foundation also calls `stopLoading` when a task is suspended. The task may have been resumed by then, so the stop is final only if
    /// the task is neither suspended nor running.
    var isStopFinal: Bool { ![.running, .suspended].contains(task?.state) }
}

extension URLSessionConfiguration {
    /// Whether it has settings that a protocol class does not see.
    var hasHiddenSettings: Bool {
        httpAdditionalHeaders?.isEmpty == false || timeoutIntervalForRequest != URLRequest.defaultTimeout
    }
}

extension URLRequest {
    /// The timeout of a request that does not set its own.
    fileprivate static let defaultTimeout: TimeInterval = 60
}

extension URLProtocol {
    /// Adds the header fields and the timeout of the session, which Linux hides from protocol classes. Reflection is slow (1/6 of a request),
    /// so call it only if a configuration may have such settings.
    func addSessionSettings(to request: inout PreparedRequest) {
        guard let configuration = task?.session?.configuration else { return }
        for (name, value) in configuration.httpAdditionalHeaders ?? [:] where request.headers["\(name)"] == nil {
            request.headers["\(name)"] = "\(value)"
        }
        if request.timeoutInterval == URLRequest.defaultTimeout { request.timeoutInterval = configuration.timeoutIntervalForRequest }
    }
}

// MARK: - Private state of Foundation

extension URLSessionTask {
    fileprivate var session: URLSession? {
        var mirror: Mirror? = Mirror(reflecting: self)
        while let current = mirror, current.subjectType != URLSessionTask.self { mirror = current.superclassMirror }
        // Each child that is read is copied, so the index is looked up once.
        guard let children = mirror?.children else { return nil }
        let index = Self.indexOfSession.withLock { index in
            index = index ?? children.enumerated().first { $1.label == "session" }?.offset
            return index
        }
        guard let index, index < children.count else { return nil }
        return children[children.index(children.startIndex, offsetBy: index)].value as? URLSession
    }

    private static let indexOfSession = Locked<Int?>(nil)

    /// Whether the session asks its delegate for the body.
    fileprivate var isStreamed: Bool {
        Mirror(reflecting: self).value(ofProperty: "knownBody").map { Mirror(reflecting: $0).children.isEmpty } == true
    }

    fileprivate var uploadedBody: Data? {
        guard let body = Mirror(reflecting: self).value(ofProperty: "knownBody").map({ Mirror(reflecting: $0) })?.children.first?.value,
            let (kind, content) = Mirror(reflecting: body).children.first
        else { return nil }
        switch (kind, content) {
        case ("data", let data as DispatchData): return Data(data)
        case ("file", let file as URL): return try? Data(contentsOf: file)
        default: return nil
        }
    }

    fileprivate var hasCompletionHandler: Bool {
        guard let session, let registry = Mirror(reflecting: session).value(ofProperty: "taskRegistry"),
            let behaviours = Mirror(reflecting: registry).value(ofProperty: "behaviours") as? [Int: Any],
            let behaviour = behaviours[taskIdentifier]
        else { return false }
        return Mirror(reflecting: behaviour).children.first?.label?.contains("CompletionHandler") == true
    }
}

extension Mirror {
    /// The value of a stored property of the value or of a superclass.
    fileprivate func value(ofProperty name: String) -> Any? {
        children.first { $0.label == name }?.value ?? superclassMirror?.value(ofProperty: name)
    }
}
#else
// These need a workaround on Linux only.
extension URLProtocol {
    var requestWithBody: PreparedRequest { PreparedRequest(request) }
    func addSessionSettings(to request: inout PreparedRequest) {}
    var joinsChunks: Bool { false }
    var unsupportedTaskError: MockFailure? { nil }
    var isStopFinal: Bool { true }
}

extension URLSessionConfiguration {
    var hasHiddenSettings: Bool { false }
}
#endif
