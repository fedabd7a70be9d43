import RxSwiftNames
import TestSupport
import Testing

// RxSwift's names in the Swift 6 language mode. SourceCompatibilityTests has them in that of Swift 5.

extension PrimitiveSequence where Trait == SingleTrait, Element == Int {
    fileprivate func doubled() -> Single<Int> { map { $0 * 2 } }
}

extension PrimitiveSequenceType where Trait == SingleTrait {
    fileprivate func asText() -> Single<String> { primitiveSequence.map { "\($0)" } }
}

@Suite("Names from RxSwift")
struct RxSwiftNamesTests {
    @Test("Extensions of PrimitiveSequence are extensions of Single")
    func extensions() {
        let log = Log<String>()
        _ = Single.just(2).doubled().asText().subscribe(onSuccess: { log.append($0) })
        #expect(log.entries == ["4"])
    }

    @Test("The handler of errors has RxSwift's form")
    func hook() {
        let log = Log<String>()
        let original = Hooks.defaultErrorHandler
        Hooks.defaultErrorHandler = { _, error in log.append("\(error)") }
        _ = Single<Int>.error(TestError("lost")).subscribe(onSuccess: { _ in })
        Hooks.defaultErrorHandler = original
        #expect(log.entries.contains("\(TestError("lost"))"))
    }

    @Test("timeout with another single goes on with that, and leaves the errors of the source alone")
    func timeoutWithOther() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let producer = Producer<Int> { log.disposable() }
        let other = Single<Int>.deferred {
            log.append("other")
            return .just(2)
        }
        _ = producer.single.timeout(.seconds(1), other: other, scheduler: scheduler).subscribe(onSuccess: { log.append("\($0)") })
        scheduler.run()
        _ = producer.single.timeout(.seconds(1), other: other, scheduler: scheduler).subscribe(onFailure: { log.append("\($0)") })
        producer.send(.failure(RxError.timeout))
        #expect(log.entries == ["release", "other", "2", "No event arrived in time.", "release"])
    }

    @Test("using releases a resource that is made as the subscription is disposed")
    func usingDisposed() {
        let log = Log<String>()
        let scheduler = TestScheduler()
        let disposable = SerialDisposable()
        disposable.disposable = Single.just(0).observe(on: scheduler).flatMap { _ in
            Single<Int>.using(
                {
                    disposable.dispose()
                    return AnyResource(disposable: log.disposable())
                }, primitiveSequenceFactory: { _ in .never() })
        }
        .subscribe()
        scheduler.advance(by: .seconds(1))
        #expect(log.entries == ["release"])
    }

    @Test("using releases its resource after the event and on dispose, and when the single cannot be made")
    func using() {
        let log = Log<String>()
        let producer = Producer<Int>()
        let resource: @Sendable () -> any Disposable = { log.disposable() }
        let single = Single<Int>.using({ AnyResource(disposable: resource()) }, primitiveSequenceFactory: { _ in producer.single })
        _ = single.subscribe(onSuccess: { log.append("\($0)") }, onDisposed: log.adds("disposed"))
        producer.send(.success(1))
        single.subscribe(onDisposed: log.adds("disposed")).dispose()
        _ = Single<Int>.using({ AnyResource(disposable: resource()) }, primitiveSequenceFactory: { _ in throw TestError() })
            .subscribe(onFailure: { _ in log.append("failure") }, onDisposed: log.adds("disposed"))
        #expect(log.entries == ["1", "release", "disposed", "release", "disposed", "failure", "release", "disposed"])
    }

    #if compiler(>=6.2) && (os(macOS) || os(Linux))
    @Test("debug prints the subscription, the event and the end")
    func debug() async throws {
        let result = try #require(
            await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
                _ = Single.just(String(repeating: "1", count: 50)).debug("one").subscribe()
                _ = Single.just(String(repeating: "2", count: 40)).debug("short", trimOutput: true).subscribe()
                _ = Single<String>.just(String(repeating: "a", count: 30) + String(repeating: "b", count: 30)).debug(
                    "long", trimOutput: true
                )
                .subscribe()
                Single<Int>.never().debug().subscribe().dispose()
            })
        let lines = String(decoding: result.standardOutputContent, as: UTF8.self).split(separator: "\n").filter { $0.contains(" -> ") }
        #expect(
            lines.map { $0.drop { $0 != ">" } } == [
                "> subscribed", "> Event success(\(String(repeating: "1", count: 50)))", "> isDisposed", "> subscribed",
                "> Event success(\(String(repeating: "2", count: 40)))", "> isDisposed", "> subscribed",
                "> Event success(aaaaaaaaaaaaaaaaaaaa...bbbbbbbbbbbbbbbbbbbb)", "> isDisposed", "> subscribed", "> isDisposed",
            ])
        #expect(lines.last?.hasPrefix("RxSwiftNamesTests/RxSwiftNamesTests.swift:") == true)
    }
    #endif
}

private struct AnyResource: Disposable {
    let disposable: any Disposable
    func dispose() { disposable.dispose() }
}
