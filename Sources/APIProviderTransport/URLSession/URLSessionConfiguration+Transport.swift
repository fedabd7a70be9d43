import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A `URLProtocol` that answers in place of a network.
///
/// The transport gives each task a description for the class, because a `URLRequest` does not hold everything in a `PreparedRequest`. The
/// transport also stores the cookies in the class's responses.
package protocol TaskDescribingProtocol {
    /// Returns the description for a request's task. Called on the thread that starts the task.
    static var describeTask: @Sendable (PreparedRequest) -> String { get }
}

extension URLSessionConfiguration {
    /// Whether a custom `URLProtocol` handles requests, without a connection.
    var hasProtocolClass: Bool {
        let standard = URLSessionConfiguration.default.protocolClasses ?? []
        return (protocolClasses ?? []).contains { used in !standard.contains { $0 == used } }
    }

    /// The protocol class that answers in place of the network, if any.
    var taskDescribingClass: (any TaskDescribingProtocol.Type)? {
        protocolClasses?.lazy.compactMap { $0 as? any TaskDescribingProtocol.Type }.first
    }

    /// Why a transport with this configuration sends no requests, if so.
    func refusal(hasProtocolClass: Bool) -> String? {
        if identifier != nil {
            return
                "its configuration is for the background, where a transport cannot wait for the response; use .default, and a URLSession "
                + "for transfers in the background"
        }
        #if canImport(FoundationNetworking)
        // A session ignores this dictionary (Swift 6.3.1). A dictionary with only zeros switches proxies off.
        if !hasProtocolClass, let proxies = connectionProxyDictionary, proxies.values.contains(where: { ($0 as? NSNumber)?.intValue != 0 })
        {
            return
                "its configuration has a connectionProxyDictionary, which Foundation on Linux ignores; name the proxy in the environment "
                + "variables http_proxy and https_proxy instead, or use another transport"
        }
        #endif
        return nil
    }

    /// Makes a session ask the protocol classes. Apple's newer loader is said to ask none.
    package func useProtocolClasses() {
        #if !canImport(FoundationNetworking)
        if #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *) { usesClassicLoadingMode = true }
        #endif
    }

    // MARK: - Copies for sessions

    /// A copy for a transport's session. The transport adds the header fields itself.
    func forTransport() -> URLSessionConfiguration {
        let copy = copy() as? URLSessionConfiguration ?? self
        copy.httpAdditionalHeaders = nil
        copy.timeoutIntervalForRequest = timeoutIntervalForRequest.forSession
        // Seven days is `URLSessionConfiguration`'s default.
        copy.timeoutIntervalForResource = timeoutIntervalForResource > 0 ? min(timeoutIntervalForResource, 1_000_000_000) : 604_800
        // Only `CacheMiddleware` caches: a second cache behind it would keep the responses removed by `removeAll()`. On Linux, a `URLCache`
        // stores nothing, and cancelling a task in a session with one crashes (Swift 6.3.1, swiftlang/swift-corelibs-foundation#3292).
        copy.urlCache = nil
        if hasProtocolClass { copy.useProtocolClasses() }
        if transportHandlesCookies {
            copy.httpShouldSetCookies = false
            copy.httpCookieAcceptPolicy = .never
        }
        return copy
    }

    /// A copy for streams, without a resource timeout. On Apple's systems, all streams share one session. A stream keeps the connection, so
    /// with a limit of six the seventh would wait for another's end.
    func forStreams() -> URLSessionConfiguration {
        let copy = copy() as? URLSessionConfiguration ?? self
        copy.timeoutIntervalForResource = 1_000_000_000
        copy.httpMaximumConnectionsPerHost = 100_000
        return copy
    }

    // MARK: - Cookies

    /// Whether the transport stores and sends cookies in place of the session.
    ///
    /// A session on Linux replaces a request's cookies with stored ones, and accepts a cookie for any domain from any server (Swift 6.3.1).
    /// On Apple's systems, only the HTTP loader stores cookies, and does not see a protocol class's responses.
    var transportHandlesCookies: Bool {
        #if canImport(FoundationNetworking)
        true
        #else
        taskDescribingClass != nil
        #endif
    }

    /// The configuration's cookies, for the session or the transport; `nil` without a storage.
    ///
    /// As on Apple's systems, a custom `URLProtocol`'s responses store no cookies, except with a ``TaskDescribingProtocol``.
    var cookies: CookieJar? {
        httpCookieStorage.map {
            CookieJar(
                storage: $0, sendsCookies: httpShouldSetCookies,
                acceptsCookies: (taskDescribingClass != nil || !hasProtocolClass) && httpCookieAcceptPolicy != .never)
        }
    }
}

extension TimeInterval {
    /// A timeout for the session.
    var forSession: TimeInterval {
        // Infinity, NaN and huge values trap on Linux (Swift 6.3.1). Apple documents neither these nor 0.
        let seconds = self <= 0 ? 60 : self < 1_000_000 ? self : 1_000_000
        #if canImport(FoundationNetworking)
        // Timers are cut to whole seconds and fire a little early (Swift 6.3.1). The transport has separate timers, and the session's must
        // never fire first.
        return seconds.rounded(.up) + 600
        #else
        // Exactly 60 s counts as no timeout.
        return seconds == 60 ? seconds.nextUp : seconds
        #endif
    }
}
