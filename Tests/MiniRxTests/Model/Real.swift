import MiniRx
import TestSupport

/// A forest, made of singles. Safe from any thread.
final class Real: Sendable {
    let log: Log<String>
    private let callbacks = Locked((0..<Tree.sources).map { _ in [Single<Int>.SingleObserver]() })
    private let disposables = [SerialDisposable(), SerialDisposable()]
    private let isSubscribed = Locked([false, false])
    private let shared = Locked<[Single<Int>]>([])
    private let scheduler = TestScheduler()
    private let forest: Forest
    private let reaction: Step?
    private let hasReacted = Locked(false)
    private let token: Locked<Token?>

    /// Observers and resources hold `token`.
    init(_ forest: Forest, reaction: Step?, token: Token = Token(), log: Log<String> = Log()) {
        (self.forest, self.reaction, self.token, self.log) = (forest, reaction, Locked(token), log)
        for tree in forest.shared {
            let single = single(tree).share()
            shared.withLock { $0.append(single) }
        }
    }

    func perform(_ step: Step) {
        switch step {
        case .subscribe(let index):
            let isFirst = isSubscribed.withLock { isSubscribed in
                defer { isSubscribed[index] = true }
                return !isSubscribed[index]
            }
            guard isFirst, let token = token.withLock({ $0 }) else { return }
            disposables[index].disposable = single(forest.chains[index]).subscribe(
                onSuccess: { [log] value in withExtendedLifetime(token) { log.append("\(index) success \(value)") } },
                onFailure: { [log] _ in log.append("\(index) failure") }, onDisposed: log.adds("\(index) disposed"))
        case .dispose(let index): disposables[index].dispose()
        case .emit(let source, let isSuccess):
            callbacks.withLock { $0[source] }.forEach { $0(isSuccess ? .success(source) : .failure(TestError())) }
        case .advance(let seconds): scheduler.advance(by: .seconds(seconds))
        }
    }

    /// Lets go of all but the callbacks of the sources: producers may keep them for ever.
    func letGo() {
        _ = token.withLock { $0.take() }
        let singles = shared.withLock { shared in
            defer { shared = [] }
            return shared
        }
        _ = consume singles
    }

    private func react() {
        let isFirst = hasReacted.withLock { hasReacted in
            defer { hasReacted = true }
            return !hasReacted
        }
        if isFirst, let reaction { perform(reaction) }
    }

    private func single(_ tree: Tree) -> Single<Int> {
        switch tree {
        case .just(let value): return .just(value)
        case .fail: return .error(TestError())
        case .never: return .never()
        case .source(let source):
            return .create { [self] observer in
                log.append("subscribe \(source)")
                let token = token.withLock { $0 }
                callbacks.withLock { $0[source].append(observer) }
                return Resource(log: log, entry: "release \(source)", token: token)
            }
        case .shared(let index): return shared.withLock { $0[index] }
        case .map(let tree, let isThrowing, let isReacting):
            return single(tree).map { [self] value in
                log.append("map")
                if isReacting { react() }
                if isThrowing { throw TestError() }
                return value + 1
            }
        case .flatMap(let tree, let next): return single(tree).flatMap { [self] _ in try self.next(next) }
        case .recover(let tree, let next): return single(tree).catch { [self] _ in try self.next(next) }
        case .zip(let first, let second): return Single<Int>.zip(single(first), single(second)) { $0 * 10 + $1 }
        case .tapped(let tree, let isReacting):
            let after: @Sendable () -> Void = { [self] in
                log.append("after")
                if isReacting { react() }
            }
            return single(tree).do(
                onSuccess: { [log] _ in log.append("tap") }, afterSuccess: { _ in after() }, onError: { [log] _ in log.append("tap") },
                afterError: { _ in after() }, onSubscribe: log.adds("tap subscribed"), onDispose: log.adds("tap disposed"))
        case .bridged(let tree):
            return .create { [self] observer in single(tree).subscribe(observer) }
        case .retried(let tree, let count): return single(tree).retry(count)
        case .timeout(let tree, let seconds): return single(tree).timeout(.seconds(seconds), scheduler: scheduler)
        case .delayed(let tree, let seconds): return single(tree).delay(.seconds(seconds), scheduler: scheduler)
        case .observedOn(let tree): return single(tree).observe(on: scheduler)
        case .subscribedOn(let tree): return single(tree).subscribe(on: scheduler)
        }
    }

    private func next(_ tree: Tree) throws -> Single<Int> {
        log.append("next")
        if case .fail = tree { throw TestError() }
        return single(tree)
    }
}

/// Logs each time that it is disposed.
private struct Resource: Disposable {
    let log: Log<String>
    let entry: String
    let token: Token?
    func dispose() { log.append(entry) }
}
