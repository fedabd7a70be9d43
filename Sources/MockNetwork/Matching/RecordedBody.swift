import APIProvider
import Foundation

/// The body of a recorded request.
struct RecordedBody: Sendable {
    let data: Data
    let type: String
    /// The number of bytes that it had, if the recording has left it out.
    var size: Int?

    /// How replay compares it: JSON by its meaning, a form by its items, and another body by its size.
    enum Content: Equatable {
        case json(JSONTree)
        case form([ByteString: [ByteString]])
        case other(Int)
    }

    /// - Parameters:
    ///   - redactor: Removes secrets.
    ///   - names: The names of members and fields that do not count, in lower case.
    func content(by redactor: RecordingRedactor, ignoring names: Set<String>) -> Content {
        let kept = redactor.requestBody(data, contentType: type) ?? Data()
        if !kept.isEmpty, let tree = try? JSONTree(kept) { return .json(tree.without(names)) }
        if let items = kept.items(type, without: names), !kept.isEmpty { return .form(items.byName) }
        return .other(size ?? data.count)
    }

    /// The difference between this and what was sent.
    fileprivate func difference(from sent: RecordedBody, by redactors: [RecordingRedactor], ignoring names: Set<String>) -> Difference {
        let bodies = [self, sent]
        switch (content(by: redactors[0], ignoring: names), sent.content(by: redactors[1], ignoring: names)) {
        case (.json(let expected), .json(let actual)):
            let shown = bodies.map { body in
                try? JSONTree(Data((RecordingRedactor.report.redactedText(of: body.data) ?? "").utf8)).without(names)
            }
            return JSONTree.firstDifference(of: (expected, actual), shown: (shown[0], shown[1]))
                ?? Difference(expected: data, actual: sent.data)
        case (.form, .form):
            let items = bodies.map { $0.data.items($0.type, without: names) ?? [] }
            return Difference(expected: items[0].differing(from: items[1]), actual: items[1].differing(from: items[0]))
        default:
            let texts = bodies.map {
                $0.data.isEmpty && $0.size ?? 0 > 0 ? "\($0.size ?? 0) bytes" : "\($0.data.shown) (\($0.data.count) bytes)"
            }
            return Difference(expected: texts[0], actual: texts[1])
        }
    }
}

extension Matcher {
    /// Matches the same body as `recorded`, compared without secrets.
    ///
    /// - Parameters:
    ///   - kept: The names whose values stay. `nil` keeps everything.
    ///   - names: The names that do not count, in lower case.
    static func recordedBody(_ recorded: RecordedBody, keeping kept: Set<String>?, ignoring names: Set<String>) -> Matcher {
        let redactor = RecordingRedactor(keeping: kept, for: nil)
        return Matcher { request in
            let other = RecordingRedactor(keeping: kept, for: request.recorded.prepared)
            return recorded.content(by: redactor, ignoring: names) == request.recorded.recordedBody.content(by: other, ignoring: names)
        } explain: { request in
            let other = RecordingRedactor(keeping: kept, for: request.recorded.prepared)
            return Mismatch(name: "body", recorded.difference(from: request.recorded.recordedBody, by: [redactor, other], ignoring: names))
        }
    }

    /// Matches exactly these items, except those with `names`. Items of the same name must be in this order.
    static func wholeQuery(_ items: [URLQueryItem], ignoring names: Set<String>) -> Matcher {
        let expected = items.without(names).sortedByName
        return Matcher { request in
            let actual = request.url.formQuery.without(names)
            return actual.count == expected.count && zip(expected, actual.sortedByName).allSatisfy(matches)
        } explain: { request in
            let actual = request.url.formQuery.without(names)
            let differences = expected.filter { item in !actual.contains { matches(item, $0) } }
            let others = actual.filter { item in !expected.contains { matches($0, item) } }
            let texts = [items, actual].map { $0.isEmpty ? "none" : $0.shown }
            return Mismatch(
                name: "query", Difference(expected: texts[0], actual: texts[1]),
                distance: 0.5 * Double(max(differences.count, others.count, 1)) / Double(max(items.count, actual.count, 1)))
        }
    }

    private static func matches(_ expected: URLQueryItem, _ actual: URLQueryItem) -> Bool {
        expected.name == actual.name && (expected.value ?? "").matchesRedacted(actual.value ?? "")
    }
}

extension RecordedRequest {
    fileprivate var recordedBody: RecordedBody { RecordedBody(data: body, type: headers["Content-Type"] ?? "") }
}

extension Data {
    /// The items of a form that count. `nil` if it is something else.
    fileprivate func items(_ type: String, without names: Set<String>) -> [URLQueryItem]? {
        form(type).map { [URLQueryItem](form: $0).without(names) }
    }
}

extension [URLQueryItem] {
    /// The items whose names are not among `names`, which are in lower case.
    func without(_ names: Set<String>) -> [URLQueryItem] { filter { !names.contains($0.name.lowercased()) } }

    var sortedByName: [URLQueryItem] {
        enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
    }
}

extension JSONTree {
    /// The value without the members of these names, which are in lower case.
    fileprivate func without(_ names: Set<String>) -> JSONTree {
        switch self {
        case _ where names.isEmpty: self
        case .array(let elements): .array(elements.map { $0.without(names) })
        case .object(let members):
            .object(members.filter { !names.contains($0.key.description.lowercased()) }.mapValues { $0.without(names) })
        case .null, .bool, .number, .string: self
        }
    }
}
