import Foundation

extension DecodingError {
    /// The error with the place that Foundation leaves out on Linux: where a number does not fit, and which field is no ISO 8601 date.
    ///
    /// It is found by decoding again, with other values in the place of those in doubt.
    ///
    /// - Parameter decode: Throws what decoding a body throws.
    func placed(in json: Data, _ decode: (Data) throws -> Void) -> DecodingError {
        guard case .dataCorrupted(let context) = self, json.count < 1_000_000 else { return self }
        let text = JSONLeaves(json)

        /// Whether the error goes away, or gives way to another, with `other` in the place of these leaves.
        func isMended(_ leaves: some Sequence<JSONLeaves.Leaf>, by other: String) -> Bool {
            do {
                try decode(text.replacing(leaves, with: other))
            } catch DecodingError.dataCorrupted(let new) {
                return new.debugDescription != context.debugDescription || new.codingPath.text != context.codingPath.text
            } catch {
                return true
            }
            return true
        }

        if context.codingPath.isEmpty, context.debugDescription.contains("not valid JSON"),
            (try? JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)) != nil
        {
            let numbers = text.leaves.filter { !$0.isString }
            // The fewest from the beginning that are to be replaced: the last of them is at fault.
            var (few, many) = (0, numbers.count)
            while few < many {
                let half = (few + many) / 2
                if isMended(numbers.prefix(half + 1), by: "0") { many = half } else { few = half + 1 }
            }
            guard few < numbers.count else { return self }
            let number = text.text(of: numbers[few])
            return .dataCorrupted(
                .init(codingPath: numbers[few].path, debugDescription: "expected a number that fits its type, found \(number)"))
        }
        if context.debugDescription.contains("ISO8601") {
            let fields = text.leaves.filter {
                $0.isString && $0.path.dropLast().map(\.stringValue) == context.codingPath.map(\.stringValue)
            }
            guard let field = fields.first(where: { isMended([$0], by: "\"1970-01-01T00:00:00Z\"") }) else { return self }
            return .dataCorrupted(.init(codingPath: field.path, debugDescription: "expected an ISO 8601 date, found another text"))
        }
        return self
    }
}

/// The strings and the numbers of JSON text, each with its path.
private struct JSONLeaves {
    struct Leaf {
        let path: [any CodingKey]
        let range: Range<Int>
        let isString: Bool
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int?
        init(stringValue: String) { self.stringValue = stringValue }
        init(intValue: Int) { (self.stringValue, self.intValue) = ("Index \(intValue)", intValue) }
    }

    private(set) var leaves: [Leaf] = []
    private let bytes: [UInt8]

    init(_ json: Data) {
        var scanner = JSONTextScanner(String(decoding: json, as: UTF8.self))
        bytes = scanner.bytes
        var path: [any CodingKey] = []
        while let byte = scanner.peek() {
            switch byte {
            case UInt8(ascii: "["): path.append(Key(intValue: 0))
            case UInt8(ascii: "{"): path.append(Key(stringValue: ""))
            case UInt8(ascii: "]"), UInt8(ascii: "}"): _ = path.popLast()
            case UInt8(ascii: ","):
                if let index = path.last?.intValue { path[path.count - 1] = Key(intValue: index + 1) }
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let start = scanner.position
                scanner.skipNumber()
                leaves.append(Leaf(path: path, range: start..<scanner.position, isString: false))
                continue
            case UInt8(ascii: "\""):
                let string = scanner.next() ?? []
                if scanner.colon() != nil {
                    if !path.isEmpty { path[path.count - 1] = Key(stringValue: JSONTextScanner.content(of: string)) }
                } else {
                    leaves.append(Leaf(path: path, range: string.startIndex..<string.endIndex, isString: true))
                }
                continue
            default: break
            }
            _ = scanner.next()
        }
    }

    func text(of leaf: Leaf) -> String { String(decoding: bytes[leaf.range], as: UTF8.self) }

    func replacing(_ leaves: some Sequence<Leaf>, with text: String) -> Data {
        var result: [UInt8] = []
        var copied = 0
        for leaf in leaves {
            result += bytes[copied..<leaf.range.lowerBound]
            result += text.utf8
            copied = leaf.range.upperBound
        }
        return Data(result + bytes[copied...])
    }
}
