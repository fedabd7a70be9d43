#if canImport(FoundationNetworking)
import APIProvider
import Foundation
import FoundationNetworking

// Workarounds for defects of Foundation on Linux, seen with Swift 6.1 to 6.3.1, and described in Documentation/Upstream.md. Where they need
// private state, reflection reads it. If it finds nothing, only the workaround is lost.

extension MockURLProtocol {
    /// The request with its body. The request of an upload task comes without one.
    var wholeRequest: PreparedRequest {
        var whole = PreparedRequest(request)
        guard let task = task as? URLSessionUploadTask, request.httpBodyStream == nil, let body = task.uploadedBody else { return whole }
        whole.body = RequestBody(body)
        return whole
    }

    /// The answer as its receiver gets it whole: of several chunks, a completion handler and an async call get only the last.
    ///
    /// Call it on the loading thread, where the session changes its registry of tasks.
    func playable(_ answer: Answer) -> Answer {
        answer.steps.count > 2 && answer.chunks.count > 1 && task?.isForCompletionHandler == true ? answer.chunked(into: 1) : answer
    }

    /// The reason why the task cannot be answered. Otherwise `nil`.
    ///
    /// If a protocol class completes a download task, the process ends (swift-corelibs-foundation issues 3367 and 5465). If it fails the
    /// task, the process does not.
    var refusal: MockFailure? {
        guard task is URLSessionDownloadTask else { return nil }
        return MockFailure(
            "Foundation on Linux cannot serve a download task from a protocol class such as MockURLProtocol: use a data task, or "
                + "an Endpoint(…, downloadingTo:) by a DefaultAPIProvider.")
    }

    /// Whether a `stopLoading` is final, and no other `startLoading` follows.
    ///
    /// Suspending a task stops its protocol, as cancelling does. By the time that this is visible, the task may run again.
    var isOver: Bool { ![.running, .suspended].contains(task?.state) }
}

extension URLSessionTask {
    fileprivate var uploadedBody: Data? {
        guard let body = Mirror(reflecting: self).found("knownBody").map({ Mirror(reflecting: $0) })?.children.first?.value,
            let (kind, content) = Mirror(reflecting: body).children.first
        else { return nil }
        switch (kind, content) {
        case ("data", let data as DispatchData): return Data(data)
        case ("file", let file as URL): return try? Data(contentsOf: file)
        default: return nil
        }
    }

    fileprivate var isForCompletionHandler: Bool {
        guard let session = Mirror(reflecting: self).found("session") as? URLSession,
            let registry = Mirror(reflecting: session).found("taskRegistry"),
            let behaviours = Mirror(reflecting: registry).found("behaviours") as? [Int: Any],
            let behaviour = behaviours[taskIdentifier]
        else { return false }
        return Mirror(reflecting: behaviour).children.first?.label?.contains("CompletionHandler") == true
    }
}

extension Mirror {
    /// The value of a stored property, also of a superclass.
    fileprivate func found(_ name: String) -> Any? {
        children.first { $0.label == name }?.value ?? superclassMirror?.found(name)
    }
}
#endif
