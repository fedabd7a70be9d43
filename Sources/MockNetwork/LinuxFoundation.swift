import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Workarounds for defects of Foundation on Linux. What it keeps to itself is read by reflection; where that finds nothing, nothing is lost
// but the workaround.

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
        // A completion handler and an async call get the last piece alone.
        return task?.isForCompletionHandler != true
        #else
        return true
        #endif
    }

    /// Why the task cannot be served.
    var refusal: MockFailure? {
        #if canImport(FoundationNetworking)
        // The end of a download task that a protocol class serves ends the process; its failure does not.
        guard task is URLSessionDownloadTask else { return nil }
        return MockFailure(
            "Foundation on Linux cannot serve a download task from a protocol class such as MockURLProtocol: use a data task, or "
                + "an Endpoint(…, downloadingTo:) by a DefaultAPIProvider.")
        #else
        return nil
        #endif
    }

    /// Whether a `stopLoading` is the end, and not followed by another `startLoading`.
    var isOver: Bool {
        #if canImport(FoundationNetworking)
        // To suspend a task stops its protocol, as to cancel it does; and by the time that shows it may have been resumed.
        return ![.running, .suspended].contains(task?.state)
        #else
        return true
        #endif
    }
}

extension Error {
    /// The error as a protocol class reports it.
    var reported: any Error {
        #if canImport(FoundationNetworking)
        // A session hands on this very error.
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
    /// The value of a variable, also of one that a superclass has.
    fileprivate func found(_ name: String) -> Any? {
        children.first { $0.label == name }?.value ?? superclassMirror?.found(name)
    }

    /// The case, and what goes with it, of an optional enum.
    fileprivate static func unwrapped(_ optional: Any) -> (String, Any)? {
        guard let value = Mirror(reflecting: optional).children.first?.value, let child = Mirror(reflecting: value).children.first,
            let label = child.label
        else { return nil }
        return (label, child.value)
    }
}
#endif
