/// The arguments, split into operands and options with their values.
struct Words {
    private(set) var operands: [String] = []
    /// If an option is given twice, the last value is used. An option that takes no value has an empty one.
    private(set) var options: [Option: String] = [:]

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            guard argument != "--" else { break }
            guard argument.hasPrefix("-"), argument != "-" else {
                operands.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts[0] == "-h" ? Option.help.rawValue : parts[0]
            guard let option = Option(rawValue: name) else {
                // The text after "=" may be a secret.
                let known = Option.allCases.map(\.rawValue)
                throw Arguments.Misuse(message: "there is no option \(name.printable)" + suggestion(for: name, among: known))
            }
            options[option] = try Self.value(of: option, given: parts.dropFirst().first, &rest)
        }
        operands += rest
    }

    /// The command for help and usage, if one is named.
    var command: Command? { operands.first.flatMap(Command.init) }

    private static func value(of option: Option, given: String?, _ rest: inout ArraySlice<String>) throws -> String {
        guard option.value != nil else {
            if given != nil { throw Arguments.Misuse(message: "\(option.rawValue) takes no value") }
            return ""
        }
        if let given { return given }
        // If the value was forgotten, another option follows.
        guard let next = rest.first, !next.hasPrefix("--") else {
            throw Arguments.Misuse(message: "\(option.rawValue) needs a value: \(option.synopsis)")
        }
        return rest.removeFirst()
    }
}

/// `; did you mean search?`, if one of `names` is near.
func suggestion(for word: String, among names: [String]) -> String {
    let near = names.map { (name: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
    guard let near, near.distance <= 2, near.distance * 2 < near.name.count else { return "" }
    return "; did you mean \(near.name)?"
}

/// The number of letters to insert, remove or replace (Levenshtein distance).
private func distance(_ a: String, _ b: String) -> Int {
    let b = Array(b)
    var row = Array(0...b.count)
    for (i, x) in a.prefix(64).enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for j in b.indices {
            (diagonal, row[j + 1]) = (row[j + 1], min(diagonal + (x == b[j] ? 0 : 1), row[j] + 1, row[j + 1] + 1))
        }
    }
    return row[b.count]
}
