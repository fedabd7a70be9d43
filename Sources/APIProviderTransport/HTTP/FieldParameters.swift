import Foundation

extension Substring {
    /// Removes and returns a field's parameters before the next comma, with lowercase names. Quoted commas and semicolons do not separate.
    package mutating func takeParameters() -> [(name: String, value: String)] {
        var pieces = [""]
        var isQuoted = false
        while let character = unicodeScalars.popFirst(), isQuoted || character != "," {
            switch character {
            case "\"": isQuoted.toggle()
            case "\\" where isQuoted: pieces[pieces.count - 1].unicodeScalars.append(unicodeScalars.popFirst() ?? " ")
            case ";" where !isQuoted: pieces.append("")
            default: pieces[pieces.count - 1].unicodeScalars.append(character)
            }
        }
        return pieces.map { piece in
            let (name, value) = piece[...].split(at: UInt8(ascii: "="))
            return (String(name).withoutOuterSpace.lowercased(), String(value ?? "").withoutOuterSpace)
        }
    }
}
