import APIProvider
import Foundation

/// A request for comparison with stubs. Each part is read once, at the first use, for any number of stubs. Use one thread.
final class RequestLines {
    let request: ReceivedRequest
    let url: URLParts
    /// With `+` as a plus sign, as in URLs of Foundation.
    private(set) lazy var query = Lines(url.query)
    /// With `+` as a space, as in URLs of browsers and many HTTP clients.
    private(set) lazy var formQuery = Lines(url.formQuery)
    /// The query, in two readings if they differ.
    private lazy var queries = url.text.query?.utf8.contains(UInt8(ascii: "+")) == true ? [query, formQuery] : [query]
    /// For each asked name, the values in each reading, and as a set: thousands of items may be compared with thousands of stubs.
    private var queryValues: [String: [(values: [String], set: Set<String>)]] = [:]
    private(set) lazy var cookies = Lines(cookies: request.headers["Cookie"] ?? "")
    private(set) lazy var body = BodyLines(request.body, type: request.headers["Content-Type"] ?? "")
    private var known: [ObjectIdentifier: Bool] = [:]

    init(_ request: ReceivedRequest) { (self.request, url) = (request, URLParts(request.url.absoluteString)) }

    func meets(_ condition: Condition<ReceivedRequest>) -> Bool { condition.isMet(by: request, &known) }

    /// Whether the query has these values of `name` in order, maybe among others.
    func hasQuery(_ name: String, _ values: [String]) -> Bool {
        let readings = queryValues[name] ?? queries.map { $0.texts(at: name) }.map { ($0, Set($0)) }
        queryValues[name] = readings
        return readings.contains { values.allSatisfy($0.set.contains) && $0.values.contains(inOrder: values) }
    }
}

/// A body or multipart part, for comparison with stubs.
final class BodyLines {
    enum Notation { case json, form, multipart }

    let data: Data
    let type: String
    private lazy var json = Lines(json: data)
    private lazy var form = Lines(form: data)
    private lazy var multipart = Multipart(data, type: type)
    private lazy var multipartLines = multipart.map { Lines($0) }
    /// The parts by place, because equal names may have different bytes.
    private(set) lazy var parts = Dictionary(grouping: multipart?.parts ?? []) { "".member($0.name ?? "") }
        .mapValues { $0.map { BodyLines($0.content, type: $0.type ?? "") } }
    private var known: [ObjectIdentifier: Bool] = [:]

    init(_ data: Data, type: String = "") { (self.data, self.type) = (data, type) }

    func parts(named name: String) -> [BodyLines] { parts["".member(name)] ?? [] }

    /// The body's lines in this notation; `nil` for another notation.
    func lines(as notation: Notation) -> Lines? {
        switch notation {
        case .json: json
        case .form: form
        case .multipart: multipartLines
        }
    }

    func meets(_ condition: Condition<Data>) -> Bool { condition.isMet(by: data, &known) }
}

/// A test's condition for a request. Runs once for each request, because the closure may contain an expectation.
final class Condition<Subject: Sendable>: Sendable {
    let name: String
    private let context = TaskLocalContext.current
    private let isMet: @Sendable (Subject) -> Bool

    init(_ name: String, _ isMet: @escaping @Sendable (Subject) -> Bool) { (self.name, self.isMet) = (name, isMet) }

    /// - Parameter known: Earlier results for this subject, by condition.
    func isMet(by subject: Subject, _ known: inout [ObjectIdentifier: Bool]) -> Bool {
        if let answer = known[ObjectIdentifier(self)] { return answer }
        let answer = context.call { self.isMet(subject) }
        known[ObjectIdentifier(self)] = answer
        return answer
    }
}
