import Dispatch
import MiniRx
import TestSupport
import Testing

/// Serialized: `Hooks` is the process's own.
@Suite("Subscribing", .serialized)
struct SubscribeTests {
    @Test("An error that nobody handles goes to the hook, whichever overload was used")
    @MainActor func hook() async {
        let log = Log<String>()
        let original = Hooks.defaultErrorHandler
        Hooks.defaultErrorHandler = log.appendUnhandled
        defer { Hooks.defaultErrorHandler = original }
        let object = Token()
        _ = Single<Int>.error(Unhandled("closures")).subscribe(onSuccess: { _ in })
        _ = Single<Int>.error(Unhandled("with")).subscribe(with: object, onSuccess: { _, _ in })
        _ = Single<Int>.error(Unhandled("observer")).subscribe { _ in }
        _ = Single.just(1).do(afterSuccess: { _ in throw Unhandled("after") }).subscribe()
        _ = Single<Int>.error(Unhandled("main")).observe(on: MainActor.shared).subscribe(onSuccess: { _ in })
        _ = Single<Int>.error(Unhandled("main with")).observe(on: MainActor.shared).subscribe(with: object, onSuccess: { _, _ in })
        await mainQueue()
        #expect(log.entries == ["closures", "with", "after", "main", "main with"])
    }

    @Test("An error for an object that has gone goes nowhere", .serialized, arguments: [true, false])
    @MainActor func hookForDeadObject(isOnMainActor: Bool) async {
        let log = Log<String>()
        let original = Hooks.defaultErrorHandler
        Hooks.defaultErrorHandler = log.appendUnhandled
        defer { Hooks.defaultErrorHandler = original }
        for hasHandler in [false, true] {
            let producer = Producer<Int>()
            var object: Token? = Token()
            if let object, isOnMainActor {
                let single = producer.single.observe(on: MainActor.shared)
                _ =
                    hasHandler
                    ? single.subscribe(with: object, onFailure: { _, _ in log.append("handler") })
                    : single.subscribe(with: object, onSuccess: { _, _ in })
            } else if let object {
                _ =
                    hasHandler
                    ? producer.single.subscribe(with: object, onFailure: { _, _ in log.append("handler") })
                    : producer.single.subscribe(with: object, onSuccess: { _, _ in })
            }
            object = nil
            producer.send(.failure(Unhandled("\(hasHandler)")))
        }
        await mainQueue()
        #expect(log.entries == [])
    }

    @Test("The hook may be saved and restored 10,000 times")
    func restoredHook() async {
        let original = Hooks.defaultErrorHandler
        defer { Hooks.defaultErrorHandler = original }
        let log = Log<String>()
        Hooks.defaultErrorHandler = log.appendUnhandled
        for _ in 0..<10_000 {
            let saved = Hooks.defaultErrorHandler
            Hooks.defaultErrorHandler = saved
        }
        await onSmallStack { _ = Single<Int>.error(Unhandled("handled")).subscribe(onSuccess: { _ in }) }
        #expect(log.entries == ["handled"])
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

    @Test("subscribe(with:) hands over the object with an error, too")
    func errorWithObject() {
        let (log, object) = (Log<String>(), Token())
        _ = Single<Int>.error(TestError("a")).subscribe(with: object, onFailure: { log.append("\($0 === object) \($1)") })
        #expect(log.entries == ["true \(TestError("a"))"])
    }
}

/// Tests that run beside these have unhandled errors, too.
private struct Unhandled: Error {
    let name: String
    init(_ name: String) { self.name = name }
}

extension Log where Entry == String {
    @Sendable fileprivate func appendUnhandled(_ error: any Error) {
        if let error = error as? Unhandled { append(error.name) }
    }
}

private struct LongError: Error, CustomStringConvertible {
    let description = "first line\nsecond"
}

/// Returns when what is in the main queue now has run.
private func mainQueue() async {
    await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
}
