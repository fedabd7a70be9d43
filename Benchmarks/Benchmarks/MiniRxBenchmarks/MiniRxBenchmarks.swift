import Benchmark
import Dispatch
import Foundation
import MiniRx
import OpenCombine

// Names are "chain, library": `ratios` pairs them by the chain.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.throughput, .wallClock], timeUnits: .nanoseconds, warmupIterations: 2, scalingFactor: .kilo, maxDuration: .seconds(1))

    // The limit: what one writes by hand, once for each case.
    add("create", "hand-written") { HandWritten(sink).start(emitOne).dispose() }
    add("three maps", "hand-written") {
        HandWritten { sink($0.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }) }.start(emitOne).dispose()
    }
    add("zip of 2 creates", "hand-written") { HandWrittenZip(2) { blackHole($0) }.start().dispose() }
    add("zip of 8 creates", "hand-written") { HandWrittenZip(8) { blackHole($0) }.start().dispose() }

    let create = Single<Int>.create { observer in
        observer(.success(1))
        return Disposables.create()
    }
    add("create", "MiniRx") { create.subscribe(sink).dispose() }
    add("create", "OpenCombine") {
        Future<Int, any Error> { $0(.success(1)) }.sink(receiveCompletion: { _ in }, receiveValue: { blackHole($0) }).cancel()
    }

    add("three maps", "MiniRx") { create.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }.subscribe(sink).dispose() }
    add("three maps", "OpenCombine") {
        Future<Int, any Error> { $0(.success(1)) }.map { $0 + 1 }.map { $0 + 1 }.map { $0 + 1 }
            .sink(receiveCompletion: { _ in }, receiveValue: { blackHole($0) }).cancel()
    }

    add("flatMap", "MiniRx") { Single.just(1).flatMap { .just($0) }.subscribe(sink).dispose() }
    add("flatMap", "OpenCombine") {
        Just(1).setFailureType(to: (any Error).self).flatMap { Just($0).setFailureType(to: (any Error).self) }
            .sink(receiveCompletion: { _ in }, receiveValue: { blackHole($0) }).cancel()
    }

    add("catch", "MiniRx") { Single<Int>.error(Failure()).catch { _ in .just(1) }.subscribe(sink).dispose() }
    add("catch", "OpenCombine") {
        Fail<Int, any Error>(error: Failure()).catch { _ in Just(1).setFailureType(to: (any Error).self) }
            .sink(receiveCompletion: { _ in }, receiveValue: { blackHole($0) }).cancel()
    }

    add("retry", "MiniRx") { Single<Int>.error(Failure()).retry(2).subscribe(sink).dispose() }
    add("retry", "OpenCombine") {
        Fail<Int, any Error>(error: Failure()).retry(1).sink(receiveCompletion: { _ in }, receiveValue: { blackHole($0) }).cancel()
    }

    add("zip of 2", "MiniRx") { Single.zip(.just(1), Single.just(2)).subscribe { blackHole($0) }.dispose() }
    add("zip of 2", "OpenCombine") {
        Just(1).zip(Just(2)).sink { blackHole($0) }.cancel()
    }

    // The same of sources that the optimiser cannot see into.
    let source = hidden(create)
    let failing = hidden(
        Single<Int>.create { observer in
            observer(.failure(Failure()))
            return Disposables.create()
        })
    add("flatMap of creates", "MiniRx") { source.flatMap { _ in source }.subscribe(sink).dispose() }
    add("catch of creates", "MiniRx") { failing.catch { _ in source }.subscribe(sink).dispose() }
    add("retry of creates", "MiniRx") { failing.retry(2).subscribe(sink).dispose() }
    add("zip of 2 creates", "MiniRx") { Single.zip(source, source).subscribe { blackHole($0) }.dispose() }
    add("zip of 2 creates", "OpenCombine") {
        Future<Int, any Error> { $0(.success(1)) }.zip(Future<Int, any Error> { $0(.success(1)) })
            .sink(receiveCompletion: { _ in }, receiveValue: { blackHole($0) }).cancel()
    }
    add("zip of 8 creates", "MiniRx") {
        Single.zip(source, source, source, source, source, source, source, source).subscribe { blackHole($0) }.dispose()
    }
    add("zip of an array of 4 creates", "MiniRx") { Single.zip([source, source, source, source]).subscribe { blackHole($0) }.dispose() }
    add("share of a create", "MiniRx") { source.share().subscribe(sink).dispose() }
    add("do(onDispose:) of a create", "MiniRx") { source.do(onDispose: {}).subscribe(sink).dispose() }
    let callbacks = Callbacks()
    let later = hidden(
        Single<Int>.create { observer in
            callbacks.all.append(observer)
            return Disposables.create()
        })
    add("an event that comes later", "MiniRx") {
        let disposable = later.map { $0 + 1 }.subscribe(sink)
        callbacks.all.removeLast()(.success(1))
        disposable.dispose()
    }

    let bag = DisposeBag()
    add("into one bag", "MiniRx") { create.subscribe(sink).disposed(by: bag) }

    Benchmark("memory of 100,000 in flight, MiniRx", configuration: .init(metrics: [.peakMemoryResident], maxIterations: 1)) { _ in
        let callbacks = Callbacks()
        let subscriptions = (0..<100_000).map { _ in
            Single<Int>.create { observer in
                callbacks.all.append(observer)
                return Disposables.create()
            }.subscribe { blackHole($0) }
        }
        blackHole((callbacks, subscriptions))
    }
}

@Sendable private func add(_ chain: String, _ library: String, _ body: @escaping @Sendable () -> Void) {
    Benchmark("\(chain), \(library)") { benchmark in
        for _ in benchmark.scaledIterations { body() }
    }
}

@Sendable private func sink(_ event: Result<Int, any Error>) {
    if case .success(let value) = event { blackHole(value) }
}

@inline(never) private func hidden<Value>(_ value: Value) -> Value {
    blackHole(value)
    return value
}

private struct Failure: Error {}

/// Touched by one thread.
private final class Callbacks: @unchecked Sendable {
    var all: [Single<Int>.SingleObserver] = []
}

private typealias Callback = (Result<Int, any Error>) -> Void

@inline(never) private func emitOne(_ callback: @escaping Callback) -> () -> Void {
    callback(.success(1))
    return {}
}

/// One event, a resource that is released once, and `dispose()`, guarded by a mutex.
private final class HandWritten: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var callback: Callback?
    private var resource: (() -> Void)?
    private var isOver = false

    init(_ callback: @escaping Callback) {
        self.callback = callback
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func start(_ body: (@escaping Callback) -> () -> Void) -> HandWritten {
        let resource = body { self.end($0) }
        pthread_mutex_lock(mutex)
        let isTooLate = isOver
        if !isTooLate { self.resource = resource }
        pthread_mutex_unlock(mutex)
        if isTooLate { resource() }
        return self
    }

    func dispose() { end(nil) }

    private func end(_ event: Result<Int, any Error>?) {
        pthread_mutex_lock(mutex)
        let (callback, resource) = (self.callback, self.resource)
        (self.callback, self.resource, isOver) = (nil, nil, true)
        pthread_mutex_unlock(mutex)
        if let event { callback?(event) }
        resource?()
    }
}

/// Waits for the values of several.
private final class HandWrittenZip: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var callback: ((Result<[Int], any Error>) -> Void)?
    private var values: [Int?]
    private var missing: Int
    private var parts: [HandWritten] = []

    init(_ count: Int, _ callback: @escaping (Result<[Int], any Error>) -> Void) {
        (self.callback, values, missing) = (callback, [Int?](repeating: nil, count: count), count)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func start() -> HandWrittenZip {
        for index in values.indices {
            let part = HandWritten { self.receive($0, at: index) }
            pthread_mutex_lock(mutex)
            parts.append(part)
            pthread_mutex_unlock(mutex)
            _ = part.start(emitOne)
        }
        return self
    }

    func dispose() { end(nil) }

    private func receive(_ event: Result<Int, any Error>, at index: Int) {
        switch event {
        case .failure(let error): end(.failure(error))
        case .success(let value):
            pthread_mutex_lock(mutex)
            values[index] = value
            missing -= 1
            let whole = missing == 0 ? values.compactMap { $0 } : nil
            pthread_mutex_unlock(mutex)
            if let whole { end(.success(whole)) }
        }
    }

    private func end(_ event: Result<[Int], any Error>?) {
        pthread_mutex_lock(mutex)
        let (callback, parts) = (self.callback, self.parts)
        (self.callback, self.parts) = (nil, [])
        pthread_mutex_unlock(mutex)
        if let event { callback?(event) }
        for part in parts { part.dispose() }
    }
}
