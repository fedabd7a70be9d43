/// The usage and help texts, made from the commands and their options.
enum Help {
    static let usage = "usage: github-demo COMMAND [OPTIONS], where COMMAND is \(Command.allCases.map(\.synopsis).joined(separator: ", "))"

    static func usage(of command: Command?) -> String {
        command.map { "usage: github-demo \($0.synopsis) [OPTIONS]" } ?? usage
    }

    static func text(for command: Command?) -> String {
        guard let command else {
            return """
                usage: github-demo COMMAND [OPTIONS]

                \(list(Command.allCases.map { ($0.synopsis, $0.summary) }))

                The answers are bundled with the program; with --live they are GitHub's own.
                github-demo COMMAND --help tells the options of a command.
                """
        }
        let operand = command.operand.map { [($0.name, $0.help)] } ?? []
        return """
            \(usage(of: command))

            \(command.summary)

            \(list(operand + command.options.map { ($0.synopsis, $0.help(for: command)) }))
            """
    }

    private static func list(_ entries: [(name: String, help: String)]) -> String {
        let width = entries.map(\.name.count).max() ?? 0
        let newline = "\n" + String(repeating: " ", count: width + 4)
        return entries.map { "  \($0.padding(to: width))  \($1.split(separator: "\n").joined(separator: newline))" }.joined(separator: "\n")
    }
}

extension Command {
    /// `search KEYWORD`
    fileprivate var synopsis: String {
        let operand = operand.map { $0.isRequired ? [$0.name] : ["[\($0.name)]"] } ?? []
        return ([rawValue] + operand + options.filter(\.isRequired).map(\.synopsis)).joined(separator: " ")
    }
}

extension Option {
    /// `--page N`
    var synopsis: String { rawValue + (value.map { " \($0)" } ?? "") }
}
