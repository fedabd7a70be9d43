#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Texts that a request calls secret, and what is shown in the place of each: segments of its path written as `\(secret:)`, and the token of
/// ``AuthenticationMiddleware``.
///
/// They travel with the request, so nothing else remembers them.
package struct RequestSecrets: Sendable {
    private var shown: [String: String] = [:]
    /// The texts that are hidden within others. The longest is first, because a shorter one may be a part of it.
    private var texts: [String] = []
    /// A shorter text may be any word. It is left out of a path where it is the whole segment.
    private static let minimumInText = 6

    package init(_ request: URLRequest?) {
        guard let marks = request?.marks else { return }
        shown = marks
        shown[URLRequest.traitsKey] = nil
        texts = shown.keys.filter { $0.utf8.count >= Self.minimumInText }.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    /// The path of a URL.
    package func hide(inPath path: String) -> String {
        guard !shown.isEmpty else { return path }
        return path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            shown[String(segment)] ?? segment.removingPercentEncoding.flatMap { shown[$0] } ?? hide(in: String(segment))
        }.joined(separator: "/")
    }

    /// Text of any kind.
    package func hide(in text: String) -> String {
        texts.reduce(text) { text, secret in text.replacingOccurrences(of: secret, with: shown[secret] ?? "…") }
    }

    package var isEmpty: Bool { shown.isEmpty }
}

extension URLRequest {
    /// Calls the segments of `path` secret that are others in `shown`, and `texts` wherever they stand.
    mutating func addSecrets(_ texts: [String], path: String = "", shown: String = "") {
        guard !texts.isEmpty else { return }
        var marks = marks ?? [:]
        let segments = [path, shown].map { $0.split(separator: "/", omittingEmptySubsequences: false).map(String.init) }
        for (segment, shown) in zip(segments[0], segments[1]) where segment != shown {
            marks[segment] = shown
            marks[segment.removingPercentEncoding ?? segment] = shown
        }
        for text in texts where !text.isEmpty {
            marks[text] = marks[text] ?? "…"
            marks[text.percentEncoded(except: .unreserved)] = marks[text]
        }
        self.marks = marks
    }

    /// What a request may do that others may not. It travels with the request as its secrets do.
    enum Trait: String {
        /// A redirect is the answer.
        case returnsRedirects
        /// `GET` and `HEAD` may have a body.
        case mayHaveBody
        /// A redirect has led to it.
        case isRedirected
        /// Redirects have led to it by way of another origin.
        case hasLeftOrigin
    }

    /// No secret is empty.
    fileprivate static let traitsKey = ""

    func has(_ trait: Trait) -> Bool { marks?[Self.traitsKey]?.contains(trait.rawValue) == true }

    mutating func add(_ trait: Trait) {
        guard !has(trait) else { return }
        marks = (marks ?? [:]).merging([Self.traitsKey: trait.rawValue]) { "\($0) \($1)" }
    }

    #if canImport(FoundationNetworking)
    /// Foundation on Linux forgets the properties of a request. This URL is neither sent nor used for anything there.
    fileprivate var marks: [String: String]? {
        get {
            guard let url = mainDocumentURL, url.scheme == "secrets" else { return nil }
            let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
            return Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
        }
        set {
            var components = URLComponents()
            components.scheme = "secrets"
            components.queryItems = newValue?.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
            mainDocumentURL = components.url
        }
    }

    /// Restores the marks of `original` if a change of the request has erased them.
    mutating func keepMarks(of original: URLRequest) {
        guard let marks = original.mainDocumentURL, marks.scheme == "secrets", mainDocumentURL?.scheme != "secrets" else { return }
        mainDocumentURL = marks
    }
    #else
    fileprivate var marks: [String: String]? {
        get { URLProtocol.property(forKey: "APIProvider.secrets", in: self) as? [String: String] }
        set {
            guard let newValue, let request = (self as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return }
            URLProtocol.setProperty(newValue, forKey: "APIProvider.secrets", in: request)
            self = request as URLRequest
        }
    }

    /// Restores the marks of `original` if a change of the request has erased them.
    mutating func keepMarks(of original: URLRequest) { if marks == nil, let others = original.marks { marks = others } }
    #endif
}
