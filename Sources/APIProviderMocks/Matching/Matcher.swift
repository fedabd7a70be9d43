import APIProvider
import Foundation

/// One expectation of a stub.
enum Matcher: Sendable {
    case method(HTTPMethod)
    case path(PathPattern)
    case origin(String)
    /// One name's values in the query, in order, maybe among others. Each `+` is a plus sign, or each is a space.
    case query(String, [String])
    case header(name: String, value: String)
    /// A `Cookie`'s pairs, in any order, maybe among others.
    case cookies(Lines)
    case body(BodyMatcher)
    case condition(Condition<ReceivedRequest>)

    /// Matchers for all `items`, maybe among others.
    static func queries(_ items: [URLQueryItem]) -> [Matcher] {
        let lines = Lines(items)
        return lines.values.keys.sorted().map { .query($0, lines.texts(at: $0)) }
    }

    static func header(_ name: String, _ value: String) -> Matcher {
        name.lowercased() == "cookie" ? .cookies(Lines(cookies: value)) : .header(name: name, value: value)
    }

    /// Whether the test's code decides.
    var runsUserCode: Bool {
        switch self {
        case .condition: true
        case .body(let matcher): matcher.runsUserCode
        default: false
        }
    }

    // MARK: - Comparing

    func matches(_ request: RequestLines) -> Bool {
        switch self {
        case .method(let method): request.request.method == method
        case .path(let pattern): pattern.matches(request.url.segments)
        case .origin(let origin): request.url.origin == origin
        case .query(let name, let values): request.hasQuery(name, values)
        case .header(let name, let value): request.request.headers[name]?.hasSameBytes(as: value) == true
        case .cookies(let pairs): pairs.values.keys.allSatisfy { request.hasCookies(pairs, at: $0) }
        case .body(let matcher): matcher.matches(request.body)
        case .condition(let condition): request.meets(condition)
        }
    }

    /// A different request's distance, above 0. Reports rank stubs by the sum.
    func distance(from request: RequestLines) -> Double {
        switch self {
        case .method, .origin, .condition: 1
        case .path(let pattern): pattern.distance(to: request.url.segments)
        case .query, .header, .cookies: 0.5
        case .body(let matcher): 0.5 - 0.3 * matcher.similarity(to: request.body)
        }
    }
}

extension RequestLines {
    /// Whether the request has the cookies in `pairs` at `place`, in any order, and repeated pairs as often.
    func hasCookies(_ pairs: Lines, at place: String) -> Bool {
        cookies.texts(at: place).sorted().contains(inOrder: pairs.texts(at: place).sorted())
    }
}

extension [String] {
    /// Whether this array contains `others` in order.
    func contains(inOrder others: [String]) -> Bool {
        var rest = others[...]
        for element in self where rest.first?.hasSameBytes(as: element) == true { rest.removeFirst() }
        return rest.isEmpty
    }
}
