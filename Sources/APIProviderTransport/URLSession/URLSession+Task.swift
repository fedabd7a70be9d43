#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension URLSession {
    /// The directory for a temporary file with a body's parts, because a session on Apple's systems uploads only a single file. `nil` on
    /// Linux, where the parts are streamed.
    static var multipartDirectory: URL? {
        #if canImport(FoundationNetworking)
        return nil
        #else
        return FileManager.default.temporaryDirectory
        #endif
    }

    /// Creates a task to send `request`.
    ///
    /// - Parameter hasProtocolClass: Whether a custom `URLProtocol` handles the request. Such a class would not see a streamed body.
    func task(for request: PreparedRequest, hasProtocolClass: Bool) throws -> URLSessionTask {
        var sent = request.adapted
        #if canImport(FoundationNetworking)
        // The session's timer continues while the session is paused. The transport has a separate timer.
        if request.bodyDestination.isStream { sent.timeoutInterval = 1_000_000 }
        // An upload task for a file takes several times as long, and waits forever for a shrunk file (Swift 6.3.1).
        if hasProtocolClass {
            sent.httpBody = try request.body?.data()
        } else if let body = request.uploadedBody {
            sent.setStreamedBody(body)
        }
        return dataTask(with: sent)
        #else
        if !hasProtocolClass, let file = request.uploadedBody?.file {
            return uploadTask(with: sent, fromFile: file.resolvingSymlinksInPath())
        }
        sent.httpBody = try request.body?.data()
        return dataTask(with: sent)
        #endif
    }
}

extension URLSessionTask {
    /// The request's secrets, for a protocol class that shows the request: a `URLRequest` cannot carry secrets.
    package var requestSecrets: RequestSecrets {
        get { progress.userInfo[.requestSecrets] as? RequestSecrets ?? RequestSecrets() }
        set { progress.setUserInfoObject(newValue, forKey: .requestSecrets) }
    }
}

extension ProgressUserInfoKey {
    fileprivate static let requestSecrets = ProgressUserInfoKey("APIProvider.requestSecrets")
}

// MARK: - A session's requests

extension PreparedRequest {
    fileprivate var uploadedBody: RequestBody? {
        guard let uploadFile, let body else { return body }
        return RequestBody([.file(uploadFile, count: body.count)])
    }

    /// The session's request, without the body.
    fileprivate var adapted: URLRequest {
        var request = urlRequest
        if let timeoutInterval { request.timeoutInterval = timeoutInterval.forSession }
        #if canImport(FoundationNetworking)
        // Foundation does not know a scheme in capitals (Swift 6.3.1).
        let text = url.absoluteString
        if text.httpPrefixLength == nil, let scheme = url.scheme {
            request.url = URL(string: scheme.lowercased() + text.dropFirst(scheme.utf8.count)) ?? url
        }
        // A field with only white space would be dropped (Swift 6.3.1); an empty value means the same (RFC 9110, section 5.5).
        for (name, value) in headers where !value.isEmpty && value.withBytes({ $0.allSatisfy { $0 == 32 || $0 == 9 } }) {
            request.setValue("", forHTTPHeaderField: name)
        }
        #endif
        return request
    }

    /// Whether libcurl may ask a proxy for a tunnel to the host. The proxy's answer is then the response's first head.
    var mayHaveTunnel: Bool {
        #if canImport(FoundationNetworking)
        url.scheme?.lowercased() == "https" && url.environmentProxy != nil
        #else
        false
        #endif
    }

    #if canImport(FoundationNetworking)
    /// Whether libcurl would silently repeat this non-idempotent request after a reused connection closes. With a body, Foundation would
    /// ask for the bytes again, and `SessionDelegate` would refuse.
    var mayBeResentByLibcurl: Bool { (body?.count ?? 0) == 0 && !isIdempotent }

    /// Whether no other request may use the connection: this one has a body that must not be sent twice.
    ///
    /// With GOAWAY, a server closes an HTTP/2 connection and refuses the streams that it has not begun. libcurl sends their requests again,
    /// and asks for their bodies exactly as it does after a dead connection (libcurl 7.88), so the two cannot be told apart. A connection
    /// with one request at a time has no such streams.
    var mustNotShareConnection: Bool {
        url.scheme?.lowercased() == "https" && (body?.count ?? 0) > 0 && !isIdempotent && !bodyDestination.isStream
    }
    #endif
}

#if canImport(FoundationNetworking)
extension URLRequest {
    /// Sets the body as a repeatable stream, and the length.
    fileprivate mutating func setStreamedBody(_ body: RequestBody) {
        guard body.count > 0 else { return httpBody = Data() }
        httpBodyStream = BodyStream(body)
        setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
        // A stream would be sent in chunks (Swift 6.3.1, swiftlang/swift-corelibs-foundation#4818). libcurl omits a blank field, and then
        // the chunks, too.
        setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
    }
}
#endif

// MARK: - Pauses and challenges

extension URLSession {
    /// Pauses `task`. Call the returned closure once to resume.
    func pause(_ task: URLSessionTask) -> @Sendable () -> Void {
        #if canImport(FoundationNetworking)
        let callQueue = (delegateQueue as? StreamCallbackQueue)?.callQueue
        callQueue?.suspend()
        return { callQueue?.resume() }
        #else
        task.suspend()
        return { task.resume() }
        #endif
    }
}

extension URLAuthenticationChallenge {
    /// Whether the challenge asks for a user name and a password, and not for trust.
    var isForPassword: Bool {
        #if canImport(FoundationNetworking)
        // Certificates cause no challenges (Swift 6.3.1).
        return true
        #else
        return ![NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate].contains(
            protectionSpace.authenticationMethod)
        #endif
    }
}
