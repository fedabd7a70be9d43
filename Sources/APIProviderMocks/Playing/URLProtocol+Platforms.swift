import APIProvider
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A protocol instance, and the session's loading thread or queue.
///
/// All sessions share that thread, so blocking code there blocks them all. On Linux, sending or cancelling a request there traps. Call a
/// protocol's client there.
struct LoadingContext: @unchecked Sendable {  // Other threads use only the protocol's `task`.
    let urlProtocol: URLProtocol
    #if !canImport(FoundationNetworking)
    private let runLoop = CFRunLoopGetCurrent()
    #endif

    /// Call this on the thread.
    init(of urlProtocol: URLProtocol) { self.urlProtocol = urlProtocol }

    /// Calls the protocol's `startLoading` on the thread. Never call this on that thread: on Linux, it waits there for itself.
    func startLoading() {
        #if canImport(FoundationNetworking)
        // A session calls `startLoading` each time a task is resumed. Only the app may resume a task suspended by the app.
        if urlProtocol.task?.state != .suspended { urlProtocol.task?.resume() }
        #else
        CFRunLoopPerformBlock(runLoop, CFRunLoopMode.commonModes.rawValue) { [self] in urlProtocol.startLoading() }
        CFRunLoopWakeUp(runLoop)
        #endif
    }
}

// MARK: - Errors

extension Error {
    /// The error in a protocol class's form.
    var forClient: any Error {
        #if canImport(FoundationNetworking)
        return self  // A session passes on the same error.
        #else
        return bridgedThroughSession
        #endif
    }
}

// MARK: - Workarounds for Linux

#if canImport(FoundationNetworking)
// Workarounds for defects of Foundation on Linux (Swift 6.1 to 6.3.1), described in Documentation/Upstream.md. Reflection reads private
// state. Where reflection finds nothing, only the workaround is lost.

extension URLProtocol {
    /// The request with the body. An upload task's request has none.
    var requestWithBody: PreparedRequest {
        var whole = PreparedRequest(request)
        guard let task = task as? URLSessionUploadTask, request.httpBodyStream == nil, let body = task.uploadedBody else { return whole }
        whole.body = RequestBody(body)
        return whole
    }

    /// Whether the task has a completion handler. On Linux, such a task gets the last chunk alone.
    ///
    /// Call this on the loading thread, where the session changes the task registry.
    var joinsChunks: Bool { task?.hasCompletionHandler == true }

    /// The error for an unsupported task; `nil` for other tasks.
    ///
    /// Completing a download task ends the process (swift-corelibs-foundation issues 3367 and 5465); failing one does not. The stream of an
    /// `uploadTask(withStreamedRequest:)` reaches no protocol class.
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

    /// Whether no `startLoading` follows this `stopLoading`.
    ///
    /// Foundation also calls `stopLoading` for a suspended task, which may run again by then. So the stop is final only if the task is
    /// neither suspended nor running.
    var isStopFinal: Bool { ![.running, .suspended].contains(task?.state) }
}

extension URLSessionConfiguration {
    /// Whether the session has settings invisible to a protocol class.
    var hasHiddenSettings: Bool {
        httpAdditionalHeaders?.isEmpty == false || timeoutIntervalForRequest != URLRequest.defaultTimeout
    }
}

extension URLRequest {
    /// The default timeout.
    fileprivate static let defaultTimeout: TimeInterval = 60
}

extension URLProtocol {
    /// Adds the session's header fields and timeout, which Linux hides from protocol classes. Reflection takes a sixth of a request's time,
    /// so call this only if a configuration may have such settings.
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
        // Reading a child copies it, so the index is looked up once.
        guard let children = mirror?.children else { return nil }
        let index = Self.sessionIndex.withLock { index in
            index = index ?? children.enumerated().first { $1.label == "session" }?.offset
            return index
        }
        guard let index, index < children.count else { return nil }
        return children[children.index(children.startIndex, offsetBy: index)].value as? URLSession
    }

    private static let sessionIndex = Locked<Int?>(nil)

    /// Whether the session asks the delegate for the body.
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
    /// A stored property's value, also a superclass's.
    fileprivate func value(ofProperty name: String) -> Any? {
        children.first { $0.label == name }?.value ?? superclassMirror?.value(ofProperty: name)
    }
}
#else
// Only Linux needs workarounds for these.
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
