import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Workarounds for defects of Foundation on Linux. Reflection reads its private state. If that finds nothing, only the workaround is lost.

extension MockURLProtocol {
    /// The request with its body.
    var wholeRequest: URLRequest {
        #if canImport(FoundationNetworking)
        // The request of an upload task comes without its body.
        if let task = task as? URLSessionUploadTask, request.httpBodyStream == nil, let body = task.uploadedBody {
            var request = request
            request.httpBody = body
            return request
        }
        #endif
        return request
    }

    /// Whether the body may come in pieces.
    var takesChunks: Bool {
        #if canImport(FoundationNetworking)
        // A completion handler and an async call get only the last piece.
        return task?.isForCompletionHandler != true
        #else
        return true
        #endif
    }

    /// The reason why the task cannot be answered. Otherwise `nil`.
    var refusal: MockFailure? {
        #if canImport(FoundationNetworking)
        // If a protocol class completes a download task, the process ends. If it fails the task, the process does not.
        guard task is URLSessionDownloadTask else { return nil }
        return MockFailure(
            "Foundation on Linux cannot serve a download task from a protocol class such as MockURLProtocol: use a data task, or "
                + "an Endpoint(…, downloadingTo:) by a DefaultAPIProvider.")
        #else
        return nil
        #endif
    }

    /// Whether a `stopLoading` is final, and no other `startLoading` follows.
    var isOver: Bool {
        #if canImport(FoundationNetworking)
        // Suspending a task stops its protocol, as cancelling does. By the time that this is visible, the task may run again.
        return ![.running, .suspended].contains(task?.state)
        #else
        return true
        #endif
    }
}

extension Error {
    /// The error in the form that a protocol class reports.
    var reported: any Error {
        #if canImport(FoundationNetworking)
        // A session passes on this same error.
        return self
        #else
        return carried
        #endif
    }
}

#if canImport(FoundationNetworking)
extension URLSessionTask {
    fileprivate var uploadedBody: Data? {
        guard let (kind, body) = Mirror(reflecting: self).found("knownBody").flatMap(Mirror.unwrapped) else { return nil }
        switch (kind, body) {
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

    /// The case of an optional enum, and its associated value.
    fileprivate static func unwrapped(_ optional: Any) -> (String, Any)? {
        guard let value = Mirror(reflecting: optional).children.first?.value, let child = Mirror(reflecting: value).children.first,
            let label = child.label
        else { return nil }
        return (label, child.value)
    }
}
#endif
