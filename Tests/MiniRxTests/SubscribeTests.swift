import MiniRx
import TestSupport
import Testing

/// Serialized: `Hooks` is the process's own.
@Suite("Subscribing", .serialized)
struct SubscribeTests {
    @Test("An error that nobody handles goes to the hook, whichever overload was used")
    @MainActor
    func hook() {
        let log = Log<String>()
        let original = Hooks.defaultErrorHandler
        Hooks.defaultErrorHandler = { log.append(($0 as? TestError)?.name ?? "\($0)") }
        defer { Hooks.defaultErrorHandler = original }
        let object = Token()
        _ = Single<Int>.error(TestError("closures")).subscribe(onSuccess: { _ in })
        _ = Single<Int>.error(TestError("with")).subscribe(with: object, onSuccess: { _, _ in })
        _ = Single<Int>.error(TestError("observer")).subscribe { _ in }
        _ = Single.just(1).do(afterSuccess: { _ in throw TestError("after") }).subscribe()
        _ = Single<Int>.error(TestError("main")).observe(on: MainActor.shared).subscribe(onSuccess: { _ in })
        _ = Single<Int>.error(TestError("main with")).observe(on: MainActor.shared).subscribe(with: object, onSuccess: { _, _ in })
        #expect(log.entries == ["closures", "with", "after", "main", "main with"])
    }

    @Test("Until it is set, the hook prints one line to standard error, whatever is in the error")
    func printedHook() async throws {
        #if compiler(>=6.2) && (os(macOS) || os(Linux))
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent],
            performing: { _ = Single<Int>.error(LongError()).subscribe(onSuccess: { _ in }) })
        let lines = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("MiniRx") }
        let line = #"""
            MiniRx: nobody handled this error (subscribe with onFailure:, or set Hooks.defaultErrorHandler): first line second
            """#
        #expect(lines.map(String.init) == [line])
        #endif
    }

    @Test("subscribe(with:) hands over the object, and is silent once that has gone")
    func withObject() {
        let log = Log<String>()
        let producer = Producer<Int>()
        var object: Token? = Token()
        for value in [1, 2] {
            _ = object.map { object in
                producer.single.subscribe(
                    with: object, onSuccess: { log.append("\($1)") }, onFailure: { _, _ in log.append("failure") },
                    onDisposed: { _ in log.append("disposed") })
            }
            if value == 2 { object = nil }
            producer.send(value == 1 ? .success(value) : .failure(TestError()))
        }
        #expect(log.entries == ["1", "disposed"])
    }
}

private struct LongError: Error, CustomStringConvertible {
    let description = "first line\nsecond"
}
