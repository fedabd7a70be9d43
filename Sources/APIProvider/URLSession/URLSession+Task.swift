package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension URLSession {
    /// Where a body with files is put together, because a session of Apple's reads a single file alone; `nil` if a session reads each of
    /// them.
    package static var folderForParts: URL? {
        #if canImport(FoundationNetworking)
        return nil
        #else
        return FileManager.default.temporaryDirectory
        #endif
    }

    /// The task that sends `request`.
    ///
    /// - Parameters:
    ///   - isForNetwork: Whether no protocol class of the app answers.
    ///   - isStreamed: Whether the task may be held back.
    func task(for request: URLRequest, isForNetwork: Bool, isStreamed: Bool) -> URLSessionTask {
        #if canImport(FoundationNetworking)
        var request = request
        // The session's timer runs on while the session is held back. The transport has its own.
        if isStreamed { request.timeoutInterval = 1_000_000 }
        // A task that uploads a file takes several times as long, and waits for ever when the file becomes shorter (Swift 6.3.1).
        return dataTask(with: isForNetwork ? request.adapted().withStreamedBody() : request.adapted())
        #else
        guard let file = (request.httpBodyStream as? BodyStream)?.file else { return dataTask(with: request.adapted()) }
        return uploadTask(with: request.withoutBody.adapted(), fromFile: file.resolvingSymlinksInPath())
        #endif
    }
}

extension URLRequest {
    /// The request as the session takes it.
    fileprivate func adapted() -> URLRequest {
        var request = self
        // 60 s is what a request has that sets none: then the session's own counts.
        if timeoutInterval != 60 { request.timeoutInterval = timeoutInterval.forSession }
        #if canImport(FoundationNetworking)
        // A scheme in capitals is not known (6.3.1).
        if let url, let scheme = url.scheme, scheme != scheme.lowercased() {
            request.url = URL(string: scheme.lowercased() + url.absoluteString.dropFirst(scheme.utf8.count))
        }
        // A value of white space would be dropped with its field (6.3.1); an empty one means the same (RFC 9110, section 5.5).
        for (name, value) in allHTTPHeaderFields ?? [:] where !value.isEmpty && value.utf8.allSatisfy({ $0 == 32 || $0 == 9 }) {
            request.setValue("", forHTTPHeaderField: name)
        }
        #endif
        return request
    }

    /// Whether libcurl may ask a proxy for a tunnel to the host. Then the proxy's answer comes as the first head of the response.
    var mayHaveTunnel: Bool {
        #if canImport(FoundationNetworking)
        guard url?.scheme?.lowercased() == "https" else { return false }
        return ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains { (name: String) in
            getenv(name).map { $0.pointee != 0 } ?? false
        }
        #else
        return false
        #endif
    }

    #if canImport(FoundationNetworking)
    /// Whether libcurl would send the request again in silence, though it may not reach a server twice, if the server closes the connection
    /// that was kept open. If the request has a body, Foundation is asked for the bytes again: see `SessionDelegate`.
    var wouldBeSentAgain: Bool { bodyLength == 0 && !isIdempotent }

    /// The request with its body as a stream, which can be sent again, and with its length.
    fileprivate func withStreamedBody() -> URLRequest {
        guard bodyLength > 0 || httpBodyStream != nil else { return self }
        var request = self
        if let httpBody {
            request.httpBodyStream = BodyStream([.data(httpBody)])
        } else if let file = (httpBodyStream as? BodyStream)?.file {
            request.httpBodyStream = BodyStream([.file(file, count: Int(clamping: bodyLength))])
        }
        request.setValue("\(bodyLength)", forHTTPHeaderField: "Content-Length")
        // A stream would be sent in chunks (6.3.1, swiftlang/swift-corelibs-foundation#4818). libcurl leaves out a field that is white
        // space, and then the chunks as well.
        request.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        return request
    }
    #endif
}

extension URLSession {
    /// Holds back further bytes of `task`. Call the returned closure once to let them come again.
    func holdBack(_ task: URLSessionTask) -> @Sendable () -> Void {
        #if canImport(FoundationNetworking)
        let calls = (delegateQueue as? StreamCallbackQueue)?.calls
        calls?.suspend()
        return { calls?.resume() }
        #else
        task.suspend()
        return { task.resume() }
        #endif
    }
}
