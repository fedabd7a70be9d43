import APIProvider
import Foundation

/// JSON as it is compared: by what it means. Numbers are exact, and text is equal by its bytes.
enum JSONTree: Equatable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(Bytes)
    case array([JSONTree])
    case object([Bytes: JSONTree])

    /// Threads elsewhere than on Linux have a small stack, which deeper nesting would take.
    private static let maximumDepth = 100

    /// Throws for what is no JSON (RFC 8259), and for what is nested too deep.
    init(_ data: Data) throws {
        var reader = JSONReader(data)
        self = try JSONTree(&reader, depth: 0)
        guard reader.isAtEnd else { throw JSONReader.Unreadable() }
    }

    private init(_ reader: inout JSONReader, depth: Int) throws {
        guard depth <= Self.maximumDepth else { throw JSONReader.Unreadable() }
        switch try reader.begin() {
        case .object:
            var members: [Bytes: JSONTree] = [:]
            try reader.forEachElement(endingWith: "}") {
                let key = try $0.string()
                try $0.skip(":")
                members[Bytes(key)] = try JSONTree(&$0, depth: depth + 1)
            }
            self = .object(members)
        case .array:
            var elements: [JSONTree] = []
            try reader.forEachElement(endingWith: "]") { elements.append(try JSONTree(&$0, depth: depth + 1)) }
            self = .array(elements)
        case .string: self = .string(Bytes(try reader.string()))
        case .word("null"): self = .null
        case .word("true"): self = .bool(true)
        case .word("false"): self = .bool(false)
        case .word(let word):
            guard let number = JSONNumber(word) else { throw JSONReader.Unreadable() }
            self = .number(number)
        }
    }

    /// The first place, by its path, in which `other` is different; `nil` where the whole is of another kind.
    func firstDifference(to other: JSONTree) -> (expected: String, actual: String)? {
        let place = difference(to: other, at: "")
        guard let place, !place.path.isEmpty else { return nil }
        let isSecret = place.path.split { ".[".contains($0) }.contains { Secret.isNamed(by: $0) }
        return (
            "\(place.path): \(isSecret ? "…" : place.expected?.shown ?? "nothing")",
            "\(place.path): \(isSecret ? "… (another)" : place.actual?.shown ?? "nothing")"
        )
    }

    private typealias Place = (path: String, expected: JSONTree?, actual: JSONTree?)

    private func difference(to other: JSONTree, at path: String) -> Place? {
        switch (self, other) {
        case (.object(let expected), .object(let actual)):
            for key in Set(expected.keys).union(actual.keys).sorted(by: { $0.description < $1.description }) {
                let path = path.isEmpty ? "\(key)" : "\(path).\(key)"
                guard let one = expected[key], let other = actual[key] else { return (path, expected[key], actual[key]) }
                if let place = one.difference(to: other, at: path) { return place }
            }
            return nil
        case (.array(let expected), .array(let actual)):
            for index in 0..<max(expected.count, actual.count) {
                let path = "\(path)[\(index)]"
                guard index < expected.count else { return (path, nil, actual[index]) }
                guard index < actual.count else { return (path, expected[index], nil) }
                if let place = expected[index].difference(to: actual[index], at: path) { return place }
            }
            return nil
        default:
            return self == other ? nil : (path, self, other)
        }
    }

    private var shown: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): value.text
        case .string(let value): Data("\(value)".debugDescription.utf8).shown
        case .array: "an array"
        case .object: "an object"
        }
    }
}
