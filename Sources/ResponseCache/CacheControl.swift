import APIProvider
import Foundation

/// The directives of a Cache-Control field (RFC 9111, section 5.2), of a request or a response.
struct CacheControl {
    private var directives: [(name: String, argument: String?)] = []

    init(_ field: String?) {
        guard let field else { return }
        for directive in field.splitOutsideQuotes(",") {
            let parts = directive.splitOutsideQuotes("=")
            let name = parts[0].trimmingCharacters(in: .whitespaces).lowercased()
            guard !name.isEmpty else { continue }
            let argument = parts.count > 1 ? directive.drop { $0 != "=" }.dropFirst().trimmingCharacters(in: .whitespaces) : nil
            directives.append((name, argument))
        }
    }

    func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    func argument(_ name: String) -> String? { directives.first { $0.name == name }?.argument }

    /// The seconds of a directive. Of several, the first counts. A value that is not a number is 0, so that nothing is kept too long.
    func seconds(_ name: String) -> TimeInterval? {
        guard let directive = directives.first(where: { $0.name == name }) else { return nil }
        var text = directive.argument?[...] ?? ""
        if text.count > 1, text.first == "\"", text.last == "\"" { text = text.dropFirst().dropLast() }
        return text.deltaSeconds ?? 0
    }
}

extension StringProtocol {
    /// A number of seconds as RFC 9111, section 1.2.2 has it: digits only. Any number is taken, and those above 2^31 are that.
    var deltaSeconds: TimeInterval? {
        guard !isEmpty, utf8.allSatisfy(\.isDigit) else { return nil }
        return Swift.min(TimeInterval(self) ?? .infinity, 2_147_483_648)
    }

    /// The parts between separators that stand in no quoted string.
    fileprivate func splitOutsideQuotes(_ separator: Character) -> [String] {
        var parts = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in self {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            }
            if character == separator, !isQuoted { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        return parts
    }
}
