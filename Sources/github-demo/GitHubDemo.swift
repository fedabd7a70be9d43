import Foundation

@main
enum GitHubDemo {
    static func main() async {
        // A reader that closes the pipe, such as `head`, ends the program quietly, even if the parent process ignores the signal.
        signal(SIGPIPE, SIG_DFL)
        Output.keepStandardDescriptors()
        do {
            let words = try Words(CommandLine.arguments.dropFirst())
            guard words.options[.help] == nil else { return try Output.standard.print(Help.text(for: words.command)) }
            let arguments = try Arguments(words, environment: ProcessInfo.processInfo.environment)
            let session = try Session(arguments)
            let work = Task { try await session.run() }
            let interrupt = Interrupt.handled { work.cancel() }
            defer { interrupt.cancel() }
            try await work.value
        } catch is CancellationError {
            Interrupt.endProgram()
        } catch let misuse as Arguments.Misuse {
            end(with: 64, misuse.message, Help.usage(of: misuse.command))  // EX_USAGE of sysexits.h
        } catch {
            end(with: 1, error.sentence())
        }
    }

    private static func end(with code: Int32, _ sentence: String, _ usage: String? = nil) -> Never {
        let lines = [Output.error.red("github-demo:") + " " + sentence] + (usage.map { [$0] } ?? [])
        try? Output.error.print(lines.joined(separator: "\n"))  // There is nowhere else to report it.
        exit(code)
    }
}
