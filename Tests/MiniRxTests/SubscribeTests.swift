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

    @Test("An error for an object that is gone goes nowhere", arguments: [true, false], [true, false])
    func hookForDeadObject(isOnMainActor: Bool, hasHandler: Bool) async {
        let producer = Producer<Int>()
        var object: Token? = Token()
        let handler: (@Sendable (Token, any Error) -> Void)? = hasHandler ? { @Sendable [log] _, _ in log.append("handler") } : nil
        await loggingUnhandled {
            if let object, isOnMainActor {
                _ = producer.single.observe(on: MainActor.shared).subscribe(with: object, onFailure: handler)
            } else if let object {
                _ = producer.single.subscribe(with: object, onFailure: handler)
            }
            object = nil
            producer.send(.failure(Unhandled("unhandled")))
        }
        #expect(log.entries == [])
    }

    @Test("The hook may be saved and restored 10,000 times")
    func restoredHook() async {
        await loggingUnhandled {
            for _ in 0..<10_000 {
                let saved = Hooks.defaultErrorHandler
                Hooks.defaultErrorHandler = saved
            }
            await onSmallStack { _ = Single<Int>.error(Unhandled("handled")).subscribe(onSuccess: { _ in }) }
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
        let lines = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("MiniRx") }
        let line = """
            MiniRx: nobody handled this error (subscribe with onFailure:, or set Hooks.defaultErrorHandler): first line second
            """
        #expect(lines.map(String.init) == [line])
    }
    #endif

    @Test("subscribe(with:) hands over the object with the value or the error, and is silent once the object is gone")
    func withObject() {
        let (producer, log) = (Producer<Int>(), log)
        var object: Token? = Token()
        for event in [.success(1), .failure(TestError("a")), .success(2)] as [SingleEvent<Int>] {
            _ = object.map { object in
                producer.single.subscribe(
                    with: object, onSuccess: { [id = ObjectIdentifier(object)] in log.append("\(ObjectIdentifier($0) == id) \($1)") },
                    onFailure: { _, error in log.append((error as? TestError)?.name ?? "") }, onDisposed: { _ in log.append("disposed") })
            }
            if (try? event.get()) == 2 { object = nil }
            producer.send(event)
        }
        #expect(log.entries == ["true 1", "disposed", "a", "disposed"])
    }
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
