import APIProvider
import Foundation

/// One expectation of a stub.
struct Matcher: Sendable {
    /// The difference between an expectation and a request.
    struct Mismatch: Sendable {
        let name: String
        let difference: Difference
        /// How much it adds to the distance of the stub from the request, by which reports rank stubs. More than 0.
        let distance: Double

        init(name: String, _ difference: Difference, distance: Double = 0.5) {
            (self.name, self.difference, self.distance) = (name, difference, distance)
        }
    }

    /// Whether a request meets the expectation.
    let matches: @Sendable (RequestParts) -> Bool
    /// The difference, if a request does not meet the expectation.
    let explain: @Sendable (RequestParts) -> Mismatch
    /// Whether it is a closure of the test, which is not called again for a report.
    var isClosure = false
}

/// A request as matchers see it.
struct RequestParts: Sendable {
    let received: ReceivedRequest
    let url: URLParts

    init(_ request: ReceivedRequest) { (received, url) = (request, URLParts(request.url.absoluteString)) }
}

// MARK: - Expectations

extension Matcher {
    static func method(_ method: HTTPMethod) -> Matcher {
        Matcher {
            $0.received.method == method
        } explain: {
            Mismatch(name: "method", Difference(expected: method.rawValue, actual: $0.received.method.rawValue), distance: 1)
        }
    }

    static func path(_ pattern: PathPattern) -> Matcher {
        Matcher {
            pattern.matches($0.url.segments)
        } explain: {
            let hasBasePath = pattern.isSuffix(of: $0.url.segments)
            let hint =
                hasBasePath
                ? "; if that is the path of a base URL, pass the base URL to the stub as baseURL"
                : pattern.hint(for: $0.url.segments)
            return Mismatch(
                name: "path", Difference(expected: pattern.description + hint, actual: $0.received.redactor.path($0.url.path)),
                distance: hasBasePath ? 0.5 : pattern.distance(to: $0.url.segments))
        }
    }

    /// Matches every URL if there is no `origin`.
    static func origin(_ origin: String?) -> Matcher {
        Matcher {
            origin == nil || $0.url.origin == origin
        } explain: {
            let (expected, actual) = (origin ?? "none", $0.url.origin ?? "none")
            let isSameHost = expected.components(separatedBy: "://").last == actual.components(separatedBy: "://").last
            return Mismatch(name: isSameHost ? "scheme" : "host", Difference(expected: expected, actual: actual), distance: 1)
        }
    }

    /// Matches the values of one name in order. There may be other values between them.
    static func query(_ name: String, _ values: [String]) -> Matcher {
        Matcher {
            $0.url.values(of: name).contains(inOrder: values)
        } explain: {
            let actual = $0.url.query.filter { $0.name.hasSameBytes(as: name) }.redacted
            return Mismatch(
                name: "query",
                Difference(
                    expected: values.map { URLQueryItem(name: name, value: $0) }.redacted, actual: actual.isEmpty ? "no \(name)" : actual))
        }
    }

    /// Matches all of `items`. There may be others.
    static func queries(_ items: [URLQueryItem]) -> [Matcher] {
        items.names.map { name in .query(name, items.filter { $0.name.hasSameBytes(as: name) }.map { $0.value ?? "" }) }
    }

    static func header(_ name: String, _ value: String) -> Matcher {
        Matcher {
            $0.received.headers[name]?.hasSameBytes(as: value) == true
        } explain: {
            let redactor = $0.received.redactor
            let actual = $0.received.headers[name].map { "\(name): \(redactor.header(name, $0))" }
            return Mismatch(
                name: "header", Difference(expected: "\(name): \(redactor.header(name, value))", actual: actual ?? "no \(name)"))
        }
    }

    static func condition(_ description: String, _ matches: @escaping @Sendable (ReceivedRequest) -> Bool) -> Matcher {
        let context = TaskLocalContext.current
        var matcher = Matcher { parts in
            context.call { matches(parts.received) }
        } explain: { _ in
            Mismatch(name: "closure", Difference(expected: description, actual: "a request for which it returns false"), distance: 1)
        }
        matcher.isClosure = true
        return matcher
    }

    static func body(_ matcher: BodyMatcher) -> Matcher {
        var bodyMatcher = Matcher {
            matcher.matches($0.received.body)
        } explain: {
            let body = $0.received.body
            return Mismatch(name: "body", matcher.explain(body), distance: 0.5 - 0.3 * matcher.similarity(body))
        }
        bodyMatcher.isClosure = matcher.isClosure
        return bodyMatcher
    }
}

extension [String] {
    /// Whether these contain `others` in order.
    fileprivate func contains(inOrder others: [String]) -> Bool {
        var rest = others[...]
        for element in self where rest.first?.hasSameBytes(as: element) == true { rest.removeFirst() }
        return rest.isEmpty
    }
}
