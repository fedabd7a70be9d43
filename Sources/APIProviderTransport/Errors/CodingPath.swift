import Foundation

extension [any CodingKey] {
    /// `items[3].owner.login`, in the names of the model. A key outside the model's `CodingKeys`, such as a dictionary's, is part of the
    /// value, and is left out: `[…]`.
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
    /// Whether this is a case of an enumeration without a value of its own, as `CodingKeys` has them.
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
