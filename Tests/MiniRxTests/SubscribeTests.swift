import Dispatch
import MiniRx
import TestSupport
import Testing

/// Serialized, because `Hooks` belongs to the process.
@Suite("Subscribing", .serialized, tenMinutes)
@MainActor
struct SubscribeTests {
    private let log = Log<String>()

    /// Logs unhandled errors during `operation`, and what is on the main queue after it.
    private func loggingUnhandled(_ operation: @MainActor () async -> Void) async {
        let original = Hooks.defaultErrorHandler
        Hooks.defaultErrorHandler = log.appendUnhandled
        defer { Hooks.defaultErrorHandler = original }
        await operation()
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }

    @Test("An error that nobody handles goes to the hook, whichever overload was used")
    func hook() async {
        let object = Token()
        func failing(_ name: String) -> Single<Int> { .error(Unhandled(name)) }
        await loggingUnhandled {
            _ = failing("closures").subscribe(onSuccess: { _ in })
            _ = failing("with").subscribe(with: object, onSuccess: { _, _ in })
            _ = failing("observer").subscribe { _ in }
            _ = Single.just(1).do(afterSuccess: { _ in throw Unhandled("after") }).subscribe()
            _ = failing("main").observe(on: MainActor.shared).subscribe(onSuccess: { _ in })
            _ = failing("main with").observe(on: MainActor.shared).subscribe(with: object, onSuccess: { _, _ in })
        }
        #expect(log.entries == ["closures", "with", "after", "main", "main with"])
    }

    @Test(
        "subscribe(with:) passes the object with the event, and calls nothing after the object is released",
        arguments: [true, false], [true, false])
    func withObject(isOnMainActor: Bool, isReleased: Bool) async {
        let (producer, log) = (Producer<Int>(), log)
        let onSuccess: @Sendable (Token, Int) -> Void = { log.append("\($1)") }
        let onFailure: (@Sendable (Token, any Error) -> Void)? = isReleased ? nil : { @Sendable in log.appendUnhandled($1) }
        let onDisposed: @Sendable (Token) -> Void = { _ in log.append("disposed") }
        for event in [.success(1), .failure(Unhandled("a"))] as [SingleEvent<Int>] {
            var object: Token? = Token()
            await loggingUnhandled {
                if let object, isOnMainActor {
                    _ = producer.single.observe(on: MainActor.shared)
                        .subscribe(with: object, onSuccess: onSuccess, onFailure: onFailure, onDisposed: onDisposed)
                } else if let object {
                    _ = producer.single.subscribe(with: object, onSuccess: onSuccess, onFailure: onFailure, onDisposed: onDisposed)
                }
                if isReleased { object = nil }
                producer.send(event)
            }
        }
        #expect(log.entries == (isReleased ? [] : ["1", "disposed", "a", "disposed"]))
    }

    @Test("The hook may be saved and restored 10,000 times")
    func restoredHook() async {
        await loggingUnhandled {
            for _ in 0..<10_000 {
                let saved = Hooks.defaultErrorHandler
                Hooks.defaultErrorHandler = saved
            }
            onSmallStack { _ = Single<Int>.error(Unhandled("handled")).subscribe(onSuccess: { _ in }) }
        }
        #expect(log.entries == ["handled"])
    }

    #if compiler(>=6.2) && (os(macOS) || os(Linux))
    @Test("Without a hook, an error is one line on standard error, even if the error has several")
    func printedHook() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent],
            performing: {
                struct LongError: Error, CustomStringConvertible {
                    let description = "first line\nsecond"
                }
                _ = Single<Int>.error(LongError()).subscribe(onSuccess: { _ in })
            })
        let lines = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n")
        let line = "MiniRx: unhandled error (handle it in onFailure:, or set Hooks.defaultErrorHandler): first line second"
        #expect(lines.filter { $0.hasPrefix("MiniRx") } == [line[...]])
    }
    #endif
}

/// Tests that run at the same time have unhandled errors as well.
private struct Unhandled: Error {
    let name: String
    init(_ name: String) { self.name = name }
}

extension Log where Entry == String {
    @Sendable fileprivate func appendUnhandled(_ error: any Error) {
        if let error = error as? Unhandled { append(error.name) }
    }
}
