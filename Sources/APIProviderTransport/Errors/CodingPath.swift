import Foundation

extension [any CodingKey] {
    /// `items[3].owner.login`, in the model's names. A key outside the model's `CodingKeys`, such as a dictionary's, is part of the value,
    /// and is hidden: `[…]`.
    var text: String {
        guard !isEmpty else { return "the top level" }
        return reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else if key.isOfModel {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            } else {
                text += "[…]"
            }
        }
    }
}

extension CodingKey {
    /// Whether this is an enumeration case without associated values, as in `CodingKeys`.
    fileprivate var isOfModel: Bool {
        let mirror = Mirror(reflecting: self)
        return mirror.displayStyle == .enum && mirror.children.isEmpty
    }

    /// `user_name` for a model's `userName`; `nil` for a name without capitals.
    var snakeCased: String? {
        let name = stringValue.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
        return isOfModel && name != stringValue ? name : nil
    }
}
