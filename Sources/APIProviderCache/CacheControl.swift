import APIProvider
import Foundation

/// The directives in a request's or response's Cache-Control field (RFC 9111, section 5.2).
struct CacheControl {
    /// Each directive's argument. The first of several with one name counts.
    private var directives: [String: String] = [:]

    init(_ field: String?) {
        for directive in field?.partsAtCommas ?? [] {
            let name = Substring(directive.utf8.prefix { $0 != UInt8(ascii: "=") })
            let argument = Substring(directive.utf8.dropFirst(name.utf8.count + 1)).trimmingCharacters(in: .whitespaces)
            let key = name.trimmingCharacters(in: .whitespaces).lowercased()
            if directives[key] == nil { directives[key] = argument }
        }
    }

    func contains(_ name: String) -> Bool { directives[name] != nil }

    /// A directive's seconds: `ifNoArgument` without an argument, and `nil` for an absent directive. An invalid number counts as 0, so that
    /// no response is used too long.
    func seconds(_ name: String, ifNoArgument: TimeInterval = 0) -> TimeInterval? {
        guard let argument = directives[name] else { return nil }
        let isQuoted = argument.count > 1 && argument.first == "\"" && argument.last == "\""
        guard !argument.isEmpty else { return ifNoArgument }
        return (isQuoted ? argument.dropFirst().dropLast() : argument[...]).deltaSeconds ?? 0
    }
}

extension StringProtocol {
    /// The text as seconds (RFC 9111, section 1.2.2), at most 2^31.
    var deltaSeconds: TimeInterval? {
        guard !isEmpty, unicodeScalars.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
        return Swift.min(TimeInterval(self) ?? .infinity, 2_147_483_648)
    }

    /// The parts between commas, except commas in quoted strings.
    fileprivate var partsAtCommas: [String] {
        var parts = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in unicodeScalars {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            }
            if character == ",", !isQuoted { parts.append("") } else { parts[parts.count - 1].unicodeScalars.append(character) }
        }
        // An unclosed quote is an ordinary character, and hides no directive.
        return isQuoted ? self.parts(between: UInt8(ascii: ",")).map { String($0) } : parts
    }
}
