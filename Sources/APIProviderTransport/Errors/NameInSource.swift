import Foundation

/// The name of a type as its user writes it: `Search.Answer`, without the module and the marks of what is private.
package func nameInSource(of type: Any.Type) -> String {
    let marks = [#"\(extension in [^)]*\):"#, #"\(unknown context at \$[0-9a-f]+\)\."#, #"(?<![\p{L}\p{N}_.)])[\p{L}_][\p{L}\p{N}_]*\."#]
    return String(reflecting: type).replacingOccurrences(of: marks.joined(separator: "|"), with: "", options: .regularExpression)
}
