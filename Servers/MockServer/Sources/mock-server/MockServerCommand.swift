import APIProviderRecordings
import Foundation
import MockServer

@main enum MockServerCommand {
    static func main() async {
        let arguments: Arguments
        do { arguments = try Arguments(Array(CommandLine.arguments.dropFirst())) } catch {
            printError("\(error)\n\(Arguments.usage)")
            exit(64)
        }
        if arguments.needsHelp {
            print(Arguments.help)
            exit(0)
        }
        // Whoever started it may no longer read what it prints. That must not end it before the recording is written.
        Foundation.signal(SIGPIPE, SIG_IGN)
        // From here on, these signals end it in order. Before, each ends it at once. Ignoring them here would lose a signal: a source
        // listens only when Dispatch has registered it, on another thread. A closed terminal sends SIGHUP.
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        let numbers = [SIGTERM, SIGINT] + (isatty(STDIN_FILENO) == 1 ? [SIGHUP] : [])
        let sources = numbers.map { DispatchSource.makeSignalSource(signal: $0) }
        for (source, number) in zip(sources, numbers) {
            source.setEventHandler { signal.finish() }
            await withCheckedContinuation { registration in
                source.setRegistrationHandler {
                    #if canImport(Darwin)
                    // On Linux, the source replaces the action of the signal itself.
                    Foundation.signal(number, SIG_IGN)
                    #endif
                    registration.resume()
                }
                source.resume()
            }
        }
        do { try await run(arguments) { for await _ in signals {} } } catch {
            let text = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
            printError(error is ServerError ? text : text.withoutSwift)
            exit(1)
        }
        withExtendedLifetime(sources) {}
        exit(0)
    }

    private static func run(_ arguments: Arguments, _ end: @Sendable () async -> Void) async throws {
        var options = arguments.options
        options.isForSwift = false
        func serve(_ origin: String, setUp: @escaping @Sendable (MockURLProtocol.Type) throws -> Void) async throws {
            let server = try await MockServer.startInCurrentScope(for: origin, options: options, setUp: setUp)
            try FileHandle.standardOutput.write(contentsOf: Data("Listening on \(server.url.absoluteString)\n".utf8))
            await end()
            await server.stop()
        }
        if let file = arguments.file, let origin = arguments.recordedOrigin {
            options.reportMissingAnswer = { printError($0) }
            return try await record(to: file, warn: printError) { try await serve(origin) { _ in } }
        }
        var origin = arguments.origin
        var setUp: @Sendable (MockURLProtocol.Type) throws -> Void = { _ in }
        if let file = arguments.file {
            guard FileManager.default.fileExists(atPath: file.path) else {
                throw ServerError("There is no file or folder \(file.path).")
            }
            if FileManager.default.fileExists(atPath: "\(file.path)/.") {
                options.fixtures = try FixtureFolder(file)
            } else if file.pathExtension == "json" {
                options.stubs = try StubDescription.list(file)
            } else {
                origin = try origin ?? servedOrigin(of: file)
                // A client runs its tests many times against one server, so each request may be repeated.
                let recording = RecordingOptions(repeating: ["*"], forAnyHost: arguments.origin == nil)
                setUp = { try $0.replay(contentsOf: file, recording) }
            }
        }
        try await MockURLProtocol.withScope("of mock-server") { try await serve(origin ?? "http://localhost", setUp: setUp) }
    }

    private static func printError(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("mock-server: \(text)\n".utf8))
    }
}
