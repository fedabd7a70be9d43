import Foundation

extension [any CodingKey] {
    /// `items[3].owner.login`. A key outside the model's `CodingKeys`, such as a dictionary's, is part of the value, and is hidden: `[…]`.
    func text(convertsSnakeCase: Bool = false) -> String {
        guard !isEmpty else { return "the top level" }
        return reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else if Mirror(reflecting: key).isEnumCase {
                let name = convertsSnakeCase ? key.stringValue.snakeCased : key.stringValue
                text += text.isEmpty ? name : ".\(name)"
            } else {
                text += "[…]"
            }
        }
    }
}

extension Mirror {
    /// Whether the value is an enumeration case without associated values.
    fileprivate var isEnumCase: Bool { displayStyle == .enum && children.isEmpty }
}

extension String {
    /// `user_name` for `userName`.
    var snakeCased: String { reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" } }
}
