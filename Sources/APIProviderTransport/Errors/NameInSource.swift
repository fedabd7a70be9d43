import Foundation

/// A type's name in source code: `Search.Answer`, without the module and the marks of private types.
package func nameInSource(of type: Any.Type) -> String {
    let marks = [#"\(extension in [^)]*\):"#, #"\(unknown context at \$[0-9a-f]+\)\."#, #"(?<![\p{L}\p{N}_.)])[\p{L}_][\p{L}\p{N}_]*\."#]
    return String(reflecting: type).replacingOccurrences(of: marks.joined(separator: "|"), with: "", options: .regularExpression)
}
