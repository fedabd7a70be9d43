import APIProvider
import Foundation

/// The body of a recorded request.
struct RecordedBody: Sendable {
    let data: Data
    let type: String
    /// The number of bytes that it had, if the recording has left it out.
    var size: Int?

    /// How replay compares it. ``RecordingRedactor/placeholder`` stands for any value.
    enum Content: Equatable {
        case json(JSONTree)
        case form([URLQueryItem])
        case data(Data)
        case leftOut(size: Int)

        static func == (left: Self, right: Self) -> Bool {
            switch (left, right) {
            case (.json(let left), .json(let right)): left == right
            case (.form(let left), .form(let right)): left.byName == right.byName
            case (.data(let left), .data(let right)): left == right
            case (.leftOut(let left), .leftOut(let right)): left == right
            default: false
            }
        }
    }

    /// - Parameters:
    ///   - redactor: Removes secrets.
    ///   - names: The names of members and fields that do not count, in lower case.
    func content(by redactor: RecordingRedactor, ignoring names: Set<String>) -> Content {
        RecordedBody(data: redactor.requestBody(data, contentType: type) ?? data, type: type, size: size).content(ignoring: names)
    }

    private func content(ignoring names: Set<String>) -> Content {
        if let size { return .leftOut(size: size) }
        if let tree = try? JSONTree(data) { return .json(tree.without(names)) }
        if !data.isEmpty, let form = data.form(type) { return .form([URLQueryItem](form: form).without(names)) }
        return .data(data.withBoundary(of: Data("--boundary\r\n\r\n".utf8)))
    }

    /// The content, with what this has in place of each value that fits it.
    fileprivate func content(of sent: RecordedBody, fittedTo expected: Content, ignoring names: Set<String>) -> Content {
        switch (expected, sent.content(ignoring: names)) {
        case (.json(let expected), .json(let actual)): .json(actual.fitted(to: expected))
        case (.form(let expected), .form(let actual)): .form(actual.fitted(to: expected))
        case (.leftOut, _): .leftOut(size: sent.data.count)
        case (_, let actual): actual
        }
    }
}

extension RecordedBody.Content {
    /// The difference between this and what was sent.
    fileprivate func difference(from actual: Self, of bodies: (recorded: Data, sent: Data)) -> Difference {
        switch (self, actual) {
        case (.json(let expected), .json(let actual)):
            let shown = try? JSONTree(Data((RecordingRedactor.forReports.redactedText(of: bodies.sent) ?? "").utf8)).fitted(to: expected)
            return JSONTree.firstDifference(of: (expected, actual), redacted: (expected, shown))
                ?? Difference(expected: bodies.recorded, actual: bodies.sent)
        case (.form(let expected), .form(let actual)):
            return Difference(expected: expected.differing(from: actual), actual: actual.differing(from: expected))
        case (.leftOut(let size), _):
            return Difference(expected: "\(size) bytes", actual: "\(bodies.sent.shown) (\(bodies.sent.count) bytes)")
        default: return Difference(expected: bodies.recorded, actual: bodies.sent)
        }
    }
}

extension Matcher {
    /// Matches the same body as `recorded`, compared without secrets.
    ///
    /// - Parameters:
    ///   - redactor: Removes secrets.
    ///   - names: The names that do not count, in lower case.
    static func recordedBody(_ recorded: RecordedBody, by redactor: RecordingRedactor, ignoring names: Set<String>) -> Matcher {
        let expected = recorded.content(by: redactor, ignoring: names)
        @Sendable func content(of request: RequestParts) -> RecordedBody.Content {
            recorded.content(of: request.received.recordedBody, fittedTo: expected, ignoring: names)
        }
        return Matcher {
            content(of: $0) == expected
        } explain: {
            Mismatch(name: "body", expected.difference(from: content(of: $0), of: (recorded.data, $0.received.body)))
        }
    }

    /// Matches exactly these items, except those with `names`. Items of the same name must be in this order.
    static func wholeQuery(_ items: [URLQueryItem], ignoring names: Set<String>) -> Matcher {
        let expected = items.without(names)
        return Matcher {
            $0.url.formQuery.without(names).fitted(to: expected).byName == expected.byName
        } explain: { request in
            let actual = request.url.formQuery.without(names).fitted(to: expected)
            let counts = [expected.filter { !actual.contains($0) }.count, actual.filter { !expected.contains($0) }.count]
            let texts = [expected, actual].map { $0.isEmpty ? "none" : $0.shown }
            return Mismatch(
                name: "query", Difference(expected: texts[0], actual: texts[1]),
                distance: 0.5 * Double(max(counts[0], counts[1], 1)) / Double(max(items.count, actual.count, 1)))
        }
    }
}

extension ReceivedRequest {
    fileprivate var recordedBody: RecordedBody { RecordedBody(data: body, type: headers["Content-Type"] ?? "") }
}

extension [URLQueryItem] {
    /// The items whose names are not among `names`, which are in lower case.
    func without(_ names: Set<String>) -> [URLQueryItem] { filter { !names.contains($0.name.lowercased()) } }

    var sortedByName: [URLQueryItem] {
        enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
    }

    /// These items, with an item of `recorded` in place of each that fits it.
    fileprivate func fitted(to recorded: [URLQueryItem]) -> [URLQueryItem] {
        var rest = recorded
        return map { item in
            let index =
                rest.firstIndex { $0.name.hasSameBytes(as: item.name) && ($0.value ?? "").matchesRedacted(item.value ?? "") }
                ?? rest.firstIndex { $0.name.matchesRedacted(item.name) && ($0.value ?? "").matchesRedacted(item.value ?? "") }
            return index.map { rest.remove(at: $0) } ?? item
        }
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

    /// This value, with what `recorded` has in place of each text that fits it.
    fileprivate func fitted(to recorded: JSONTree) -> JSONTree {
        switch (recorded, self) {
        case (.string(let text), _) where text == ByteString(RecordingRedactor.placeholder): recorded
        case (.string(let text), .string(let actual)) where text.description.matchesRedacted(actual.description): recorded
        case (.array(let recorded), .array(let elements)):
            .array(elements.enumerated().map { $0 < recorded.count ? $1.fitted(to: recorded[$0]) : $1 })
        case (.object(let recorded), .object(let members)):
            .object(Dictionary(uniqueKeysWithValues: members.map { ($0, $1.fitted(to: recorded[$0] ?? $1)) }))
        default: self
        }
    }
}
