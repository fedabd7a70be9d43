import Foundation

@main
enum GitHubDemo {
    static func main() async {
        // A reader that closes the pipe, such as `head`, ends the program quietly, even if the parent process ignores the signal.
        signal(SIGPIPE, SIG_DFL)
        var isVerbose = false
        do {
            let words = try Words(CommandLine.arguments.dropFirst())
            guard words.options[.help] == nil else { return try Output.standard.print(Command.help(for: words.command)) }
            isVerbose = words.options[.verbose] != nil
            try await Session(Arguments(words, environment: ProcessInfo.processInfo.environment)).run()
        } catch let misuse as Arguments.Misuse {
            end(with: 64, misuse.message, "\n" + Command.usage(of: misuse.command))  // EX_USAGE of sysexits.h
        } catch {
            let (description, sentence) = ("\(error)".printable, error.sentence)
            if isVerbose, !error.isLogged, description != sentence { try? Output.error.print(Output.error.dim(description)) }
            end(with: 1, sentence)
        }
    }

    private static func end(with code: Int32, _ sentence: String, _ usage: String = "") -> Never {
        try? Output.error.print("\(Output.error.red("github-demo:")) \(sentence)\(usage)")  // There is nowhere else to report it.
        exit(code)
    }
}
