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
        #if canImport(FoundationNetworking)
        // A cancelled task of a session with a cache ends the process; and the cache never hits.
        copy.urlCache = nil
        copy.timeoutIntervalForRequest = copy.timeoutIntervalForRequest.notEarly
        #endif
        return copy
    }

    /// The storage whose cookies the transport is to send, which the session then does not.
    func takeCookies() -> HTTPCookieStorage? {
        #if canImport(FoundationNetworking)
        // A session puts stored cookies in the place of those that a request has.
        defer { httpShouldSetCookies = false }
        return httpShouldSetCookies ? httpCookieStorage : nil
        #else
        return nil
        #endif
    }

    /// `timeoutIntervalForResource`, where the session does not see to it.
    var timeoutOfResource: DispatchTimeInterval? {
        #if canImport(FoundationNetworking)
        // A session there never ends a response that comes forever; seven days is what a configuration has that sets none.
        let isSet = timeoutIntervalForResource > 0 && timeoutIntervalForResource < 604_800
        return isSet ? .milliseconds(Int((timeoutIntervalForResource * 1000).rounded(.up))) : nil
        #else
        return nil
        #endif
    }
}

private let timeouts = ConcurrentDispatchQueueScheduler(qos: .default)

extension Single {
    /// Fails as a session does when the whole response has not come in time.
    func failing(after timeout: DispatchTimeInterval?, _ request: URLRequest) -> Single {
        guard let timeout else { return self }
        return self.timeout(timeout, scheduler: timeouts)
            .mapError { $0 is RxError ? APIError.transport(request, underlying: URLError(.timedOut)) : $0 }
    }
}

extension OperationQueue {
    /// What a session calls its delegate on, one call at a time.
    static func ofDelegate() -> OperationQueue? {
        #if canImport(FoundationNetworking)
        return DelegateQueue()
        #else
        return nil
        #endif
    }
}

extension URLRequest {
    /// The request as the session takes it.
    func adapted(cookies: HTTPCookieStorage?) -> URLRequest {
        var request = self
        let hasCookies = value(forHTTPHeaderField: "Cookie") != nil
        #if canImport(FoundationNetworking)
        // 60 s is what a request has that sets none: then the session's own counts.
        if timeoutInterval != 60 { request.timeoutInterval = timeoutInterval.notEarly }
        if let url, httpShouldHandleCookies, !hasCookies, let stored = cookies?.cookies(for: url)?.filter({ $0.isMeant(for: url) }),
            !stored.isEmpty
        {
            request.setValue(HTTPCookie.requestHeaderFields(with: stored)["Cookie"], forHTTPHeaderField: "Cookie")
        }
        #else
        // The documented way to send cookies of one's own.
        if hasCookies { request.httpShouldHandleCookies = false }
        #endif
        return request
    }
}

extension URLSessionTask {
    /// How many bytes the whole body has; `nil` while nobody knows.
    var bytesToReceive: Int64? {
        var count = countOfBytesExpectedToReceive
        #if canImport(FoundationNetworking)
        // It stays 0 for what a protocol class answers.
        if count <= 0, let response { count = response.expectedContentLength }
        #endif
        return count > 0 ? count : nil
    }

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
    /// The values of all fields of this name, in any case.
    func values(forHTTPHeaderField name: String) -> String? {
        #if canImport(FoundationNetworking)
        // `value(forHTTPHeaderField:)` takes any one of those whose names are written in different cases.
        let fields = allHeaderFields.map { (name: "\($0.key)", value: "\($0.value)") }
        let values = fields.filter { $0.name.caseInsensitiveCompare(name) == .orderedSame }.sorted { $0.name < $1.name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
        #else
        return value(forHTTPHeaderField: name)
        #endif
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
}

#if canImport(FoundationNetworking)
/// An operation for each call costs several times what the call does.
private final class DelegateQueue: OperationQueue, @unchecked Sendable {  // It adds nothing that changes.
    private let queue = DispatchQueue(label: "APIProvider.session")

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }
}

extension HTTPCookie {
    /// RFC 6265, section 5.4. The storage looks at the host alone: a secure cookie would go out in the clear.
    fileprivate func isMeant(for url: URL) -> Bool {
        guard !isSecure || url.scheme?.lowercased() == "https" else { return false }
        let requested = url.path(percentEncoded: true)
        return path == "/" || requested == path || requested.hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }
}

extension TimeInterval {
    /// Timers are cut to whole seconds and fire a little early; an endless one traps, as do others that are no sensible number.
    fileprivate var notEarly: TimeInterval { self < 1_000_000 ? Swift.max(rounded(.up), 0) + 1 : 1_000_000 }
}
#endif

extension CocoaError {
    /// What went wrong.
    var sentence: String {
        #if canImport(FoundationNetworking)
        // Its own sentence is that "the operation could not be completed".
        if let error = userInfo[NSUnderlyingErrorKey] as? POSIXError { return String(cString: strerror(error.code.rawValue)) }
        #endif
        return localizedDescription
    }
}

extension JSONDecoder {
    /// Decodes whatever bytes there are, or throws.
    package func decodeAny<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        // The bracket that is one too many, the 513th, traps where the text ends with it or with a carriage return behind it.
        try decode(type, from: data.last.map { "[{\r".utf8.contains($0) } == true ? data + Data(" ".utf8) : data)
    }
}
