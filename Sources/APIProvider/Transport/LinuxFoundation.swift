package import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Workarounds for defects of Foundation on Linux, and nothing else. LibcurlWords.swift has one more.

extension URLSessionConfiguration {
    /// A copy that a session can be made of.
    func ownCopy() -> URLSessionConfiguration {
        let copy = copy() as? URLSessionConfiguration ?? self
        copy.timeoutIntervalForRequest = timeoutIntervalForRequest.ofSession
        // Seven days is what a configuration has that sets none.
        copy.timeoutIntervalForResource = timeoutIntervalForResource > 0 ? min(timeoutIntervalForResource, 1_000_000_000) : 604_800
        #if canImport(FoundationNetworking)
        // A cancelled task of a session with a cache ends the process; and the cache never hits.
        copy.urlCache = nil
        #endif
        return copy
    }

    /// What the transport is to do with cookies, which the session then does not.
    func takeCookies(isForNetwork: Bool) -> Cookies? {
        #if canImport(FoundationNetworking)
        // A session puts stored cookies in the place of those that a request has, and keeps any that a server sets for any domain.
        defer { (httpShouldSetCookies, httpCookieAcceptPolicy) = (false, .never) }
        return httpCookieStorage.map {
            Cookies(storage: $0, areSent: httpShouldSetCookies, areKept: isForNetwork && httpCookieAcceptPolicy != .never)
        }
        #else
        return nil
        #endif
    }

    /// Whether protocol classes of the app answer requests, without a connection.
    var hasOwnProtocols: Bool {
        let standard = URLSessionConfiguration.default.protocolClasses ?? []
        return (protocolClasses ?? []).contains { used in !standard.contains { $0 == used } }
    }

    /// How many requests a host gets at once, where the session takes those that wait for silent ones.
    var connectionsPerHost: Int? {
        #if canImport(FoundationNetworking)
        return httpMaximumConnectionsPerHost
        #else
        return nil
        #endif
    }
}

extension OperationQueue {
    /// What a timer looks at transfers on.
    static func ofTimer() -> OperationQueue { DelegateQueue() }

    /// What a session calls its delegate on, one call at a time.
    static func ofDelegate() -> OperationQueue? {
        #if canImport(FoundationNetworking)
        return DelegateQueue()
        #else
        return nil
        #endif
    }
}

extension URLSession {
    /// What sends `request`.
    ///
    /// - Parameter isForNetwork: Whether no protocol class of the app answers.
    func task(for request: URLRequest, isForNetwork: Bool) -> URLSessionTask {
        #if canImport(FoundationNetworking)
        // A task that uploads a file takes several times as long, and waits for ever when the file becomes shorter.
        return dataTask(with: isForNetwork ? request.adapted().withStreamedBody() : request.adapted())
        #else
        return request.bodyFile.map { uploadTask(with: request.withoutBody.adapted(), fromFile: $0.resolvingSymlinksInPath()) }
            ?? dataTask(with: request.adapted())
        #endif
    }
}

extension URLRequest {
    /// Whether a session reads the files of the body while it sends them.
    var isReadBySession: Bool {
        #if canImport(FoundationNetworking)
        return true
        #else
        return bodyFile != nil
        #endif
    }

    /// The request as the session takes it.
    func adapted() -> URLRequest {
        var request = self
        // 60 s is what a request has that sets none: then the session's own counts.
        if timeoutInterval != 60 { request.timeoutInterval = timeoutInterval.ofSession }
        #if canImport(FoundationNetworking)
        // A scheme in capitals is not known.
        if let url, let scheme = url.scheme, scheme != scheme.lowercased() {
            request.url = URL(string: scheme.lowercased() + url.absoluteString.dropFirst(scheme.utf8.count))
        }
        // A value of white space would be dropped with its field; an empty one means the same (RFC 9110, section 5.5).
        for (name, value) in allHTTPHeaderFields ?? [:] where !value.isEmpty && value.utf8.allSatisfy({ $0 == 32 || $0 == 9 }) {
            request.setValue("", forHTTPHeaderField: name)
        }
        #endif
        return request
    }

    #if canImport(FoundationNetworking)
    /// The request with its body as a stream, which can be sent again, and with its length.
    fileprivate func withStreamedBody() -> URLRequest {
        var request = self
        guard let bodyLength else {
            // A length that is no number, beside the chunks.
            request.setValue(nil, forHTTPHeaderField: "Content-Length")
            return request
        }
        guard bodyLength > 0 || httpBodyStream != nil else { return self }
        if let httpBody {
            request.httpBodyStream = BodyStream([.data(httpBody)])
        } else if let httpBodyStream, !(httpBodyStream is BodyStream) {
            request.httpBodyStream = BodyStream(httpBodyStream, length: Int(clamping: bodyLength))
        }
        request.setValue("\(bodyLength)", forHTTPHeaderField: "Content-Length")
        // A stream would be sent in chunks. libcurl leaves out a field that is white space, and then the chunks as well.
        request.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        return request
    }
    #endif
}

extension URLSessionTask {
    /// Cancels the task, also when the session itself has called.
    func cancelFromAnywhere() {
        #if canImport(FoundationNetworking)
        // `cancel()` waits for the queue on which protocols run, so that from there it never returns.
        DispatchQueue.global().async { self.cancel() }
        #else
        cancel()
        #endif
    }
}

extension HTTPURLResponse {
    /// Whether its host may have answered by HTTP/2, of which a session on Linux says nothing: fields of a connection are of HTTP/1.1 alone
    /// (RFC 9113, section 8.2.2).
    package var mayBeOfHTTP2: Bool {
        url?.scheme?.lowercased() == "https"
            && ["Connection", "Keep-Alive", "Transfer-Encoding"].allSatisfy { value(forHTTPHeaderField: $0) == nil }
    }

    /// The header fields, with values read as UTF-8.
    package var headerFields: [String: String] {
        allHeaderFields.reduce(into: [:]) { fields, field in
            #if canImport(FoundationNetworking)
            fields["\(field.key)"] = "\(field.value)"
            #else
            fields["\(field.key)"] = "\(field.value)".readAsUTF8
            #endif
        }
    }

    /// How many bytes the body has; `nil` if nobody knows, as when they come compressed and are counted as they were.
    package var bodyLength: Int64? {
        guard expectedContentLength > 0, ["", "identity"].contains(value(forHTTPHeaderField: "Content-Encoding")?.lowercased() ?? "") else {
            return nil
        }
        return expectedContentLength
    }

    /// The values of all fields of this name, in any case.
    func values(forHTTPHeaderField name: String) -> String? {
        // On Linux `value(forHTTPHeaderField:)` takes any one of those whose names are written in different cases.
        let values = headerFields.filter { $0.key.caseInsensitiveCompare(name) == .orderedSame }.sorted { $0.key < $1.key }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

extension Error {
    /// The error as it is on Apple's systems.
    var withAppleCode: any Error {
        #if canImport(FoundationNetworking)
        return (self as? URLError)?.withCodeOfLibcurl ?? self
        #else
        return self
        #endif
    }
}

extension URLAuthenticationChallenge {
    /// Whether a user name and a password are asked for, and not whether to trust a certificate.
    var isForPassword: Bool {
        #if canImport(FoundationNetworking)
        // It knows no challenges for certificates, nor their names.
        return true
        #else
        return ![NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate].contains(
            protectionSpace.authenticationMethod)
        #endif
    }

    /// The answer to a challenge for a password that gives none, so that the 401 is the response. A proxy may get the one that the system has
    /// stored.
    var answerWithoutPassword: URLSession.AuthChallengeDisposition {
        #if canImport(FoundationNetworking)
        // Any other waits for ever.
        return .rejectProtectionSpace
        #else
        return protectionSpace.isProxy() ? .performDefaultHandling : .useCredential
        #endif
    }
}

/// An operation for each call costs several times what the call does.
private final class DelegateQueue: OperationQueue, @unchecked Sendable {  // It adds nothing that changes.
    private let queue = DispatchQueue(label: "APIProvider.session")

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }
}

extension TimeInterval {
    /// A timeout for the session.
    fileprivate var ofSession: TimeInterval {
        // What is endless or no sensible number traps on Linux, and is not documented elsewhere.
        let seconds = self < 1_000_000 ? Swift.max(self, 0) : 1_000_000
        #if canImport(FoundationNetworking)
        // Timers are cut to whole seconds and fire a little early. The transport has its own, and this one is never to be first.
        return (seconds > 0 ? seconds : 60).rounded(.up) + 600
        #else
        return seconds
        #endif
    }
}

extension String {
    /// UTF-8 that was read as Latin-1, as Apple's Foundation reads a header; any other text as it is.
    package var readAsUTF8: String {
        let bytes = unicodeScalars.compactMap { UInt8(exactly: $0.value) }
        guard bytes.contains(where: { $0 > 127 }), bytes.count == unicodeScalars.count else { return self }
        return String(data: Data(bytes), encoding: .utf8) ?? self
    }
}

extension JSONDecoder {
    /// Decodes whatever bytes there are, or throws.
    package func decodeAny<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        // The bracket that is one too many, the 513th, traps where the text ends with it or with a carriage return behind it.
        try decode(type, from: data.last.map { "[{\r".utf8.contains($0) } == true ? data + Data(" ".utf8) : data)
    }
}
