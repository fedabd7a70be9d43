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
        copy.timeoutIntervalForRequest = copy.timeoutIntervalForRequest.notEarly
        // Seven days is what a configuration has that sets none.
        copy.timeoutIntervalForResource = timeoutIntervalForResource > 0 ? min(timeoutIntervalForResource, 1_000_000_000) : 604_800
        #if canImport(FoundationNetworking)
        // A cancelled task of a session with a cache ends the process; and the cache never hits.
        copy.urlCache = nil
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
        // A session there never ends a response that comes forever.
        return timeoutIntervalForResource < 604_800 ? .milliseconds(Int((timeoutIntervalForResource * 1000).rounded(.up))) : nil
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
        // 60 s is what a request has that sets none: then the session's own counts.
        if timeoutInterval != 60 { request.timeoutInterval = timeoutInterval.notEarly }
        #if canImport(FoundationNetworking)
        if let url, httpShouldHandleCookies, value(forHTTPHeaderField: "Cookie") == nil,
            let stored = cookies?.cookies(for: url)?.filter({ $0.isMeant(for: url) }), !stored.isEmpty
        {
            request.setValue(HTTPCookie.requestHeaderFields(with: stored)["Cookie"], forHTTPHeaderField: "Cookie")
        }
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
        let requested = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        return path == "/" || requested == path || requested.hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }
}

#endif

extension TimeInterval {
    /// A timeout that a timer takes and that ends no earlier.
    fileprivate var notEarly: TimeInterval {
        // What is endless or no sensible number traps on Linux, and is not documented elsewhere.
        let seconds = self < 1_000_000 ? Swift.max(self, 0) : 1_000_000
        #if canImport(FoundationNetworking)
        // Timers are cut to whole seconds and fire a little early.
        return seconds.rounded(.up) + 1
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
