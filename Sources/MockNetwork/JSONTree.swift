import APIProvider
import Foundation

/// JSON as it is compared: by what it means.
enum JSONTree: Decodable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    /// Threads elsewhere than on Linux have a small stack, which deeper nesting would take.
    private static let maximumDepth = 100

    init(_ data: Data) throws { self = try JSONDecoder().decodeAny(JSONTree.self, from: data) }

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maximumDepth else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "it is nested too deep"))
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONTree].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONTree].self))
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
            for key in Set(expected.keys).union(actual.keys).sorted() {
                let path = path.isEmpty ? key : "\(path).\(key)"
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
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): Data(value.debugDescription.utf8).shown
        case .array: "an array"
        case .object: "an object"
        }
    }
}
