import APIProvider
import Foundation

extension Redaction {
    /// JSON text, or text in which JSON stands, such as server-sent events, with its secrets left out. What is nested in a secret is one.
    ///
    /// All else stays byte for byte, and each value keeps its type, so that what decoded it still does: a number becomes 0.
    func json(_ text: String, depth: Int = 0) -> String {
        var scanner = JSONTextScanner(text)
        var result: [UInt8] = []
        var copied = 0
        var isHidden: [ArraySlice<UInt8>: Bool] = [:]
        while let string = scanner.nextString() {
            let replacement: [UInt8]?
            let start: Int
            if scanner.colon() == nil {
                (start, replacement) = (string.startIndex, inner(string, depth: depth))
            } else {
                let name = string.dropFirst().dropLast()
                let isSecret = isHidden[name] ?? hides(JSONTextScanner.content(of: string))
                isHidden[name] = isSecret
                (start, replacement) = (scanner.position, isSecret ? Self.value(from: &scanner) : nil)
            }
            guard let replacement else { continue }
            result += scanner.bytes[copied..<start] + replacement
            copied = scanner.position
        }
        guard copied > 0 else { return text }
        return String(decoding: result + scanner.bytes[copied...], as: UTF8.self)
    }

    /// A value that is a secret, with whatever is nested in it.
    private static func value(from scanner: inout JSONTextScanner) -> [UInt8] {
        var result: [UInt8] = []
        var depth = 0
        while let byte = scanner.peek() {
            switch byte {
            case UInt8(ascii: "\""):
                let string = scanner.next() ?? []
                let colon = scanner.colon()
                result += colon == nil && string.count > 2 ? ArraySlice("\"\(placeholder)\"".utf8) : string + (colon ?? [])
                continue
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                scanner.skipValue()
                result.append(UInt8(ascii: "0"))
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            guard depth >= 0, depth > 0 || byte != UInt8(ascii: ",") else { return result }
            result += scanner.next() ?? []
        }
        return result
    }

    /// What becomes of a string with its quotes in which a URL or JSON stands; `nil` where nothing is to be left out of it.
    private func inner(_ string: ArraySlice<UInt8>, depth: Int) -> [UInt8]? {
        guard string.contains(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "\\") }) else { return nil }
        let content = JSONTextScanner.content(of: string)
        let redacted = words(content, depth: depth)
        return redacted == content ? nil : (try? JSONEncoder().encode(redacted)).map(Array.init)
    }
}
