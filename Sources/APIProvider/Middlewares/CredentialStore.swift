import Dispatch
import MiniRx

/// A token, and how many there were before it: a server may give the same one again.
struct Credential {
    let token: String
    let generation: Int
}

/// Holds the token, and has it renewed once for all who ask at the same time.
final class CredentialStore: Sendable {
    private struct State {
        var token: String?
        var generation = 0
        var isExpired = false
        var firstOrigin: String?
        var renewal: Renewal?

        /// The token, unless it is known to be refused.
        var valid: Credential? { isExpired ? nil : token.map { Credential(token: $0, generation: generation) } }

        mutating func set(_ token: String?) {
            self.token = token
            generation += 1
            isExpired = false
        }
    }

    /// One refresh. Its single is `nil` when it is dropped for a token that was set meanwhile.
    private final class Renewal: Sendable {
        private let observer = Locked<Handler?>(nil)

        /// A struct, because a closure on its own would be wrapped once more each time that it goes through a generic.
        private struct Handler { let call: Single<Credential?>.SingleObserver }

        func start(_ observer: @escaping Single<Credential?>.SingleObserver) { self.observer.withLock { $0 = Handler(call: observer) } }

        func drop() { observer.withLock { $0.take() }?.call(.success(nil)) }
    }

    /// The refreshes that the current task, or what runs on this thread, is part of.
    @TaskLocal private static var ownRenewals: [Renewal] = []

    private let state: Locked<State>
    private let renewed: Single<Credential?>

    init(token: String?, refresh: @escaping @Sendable (String?) -> Single<String>) {
        let state = Locked(State(token: token))
        self.state = state
        renewed = Single.create { observer in
            let renewal = Renewal()
            let (valid, expired, generation) = state.withLock { state in
                if state.valid == nil { state.renewal = renewal }
                return (state.valid, state.token, state.generation)
            }
            // Whoever came a moment too late to join the last renewal finds what it has brought.
            if let valid {
                observer(.success(valid))
                return Disposables.create()
            }
            renewal.start(observer)
            let end: @Sendable (String?) -> Credential? = { token in
                state.withLock { state in
                    if state.renewal === renewal { state.renewal = nil }
                    guard let token, state.generation == generation else { return nil }
                    state.set(token)
                    return state.valid
                }
            }
            let refreshing = Self.$ownRenewals.withValue(Self.ownRenewals + [renewal]) {
                refresh(expired).subscribe { event in
                    switch event {
                    case .success(let token): observer(.success(end(token)))
                    case .failure(let error):
                        _ = end(nil)
                        observer(.failure(error))
                    }
                }
            }
            return Disposables.create {
                _ = end(nil)
                refreshing.dispose()
            }
        }.share()
    }

    var token: String? {
        get { state.withLock(\.token) }
        set {
            let renewal = state.withLock { state in
                state.set(newValue)
                return state.renewal.take()
            }
            renewal?.drop()
        }
    }

    /// The origin of the first request that asked.
    func firstOrigin(_ origin: String) -> String {
        state.withLock { state in
            state.firstOrigin = state.firstOrigin ?? origin
            return state.firstOrigin ?? origin
        }
    }

    func expire(_ credential: Credential) {
        state.withLock { if $0.generation == credential.generation { $0.isExpired = true } }
    }

    /// A credential that is not known to be refused: the one that is there, or else the one of a refresh, if it comes in time.
    func valid(within timeout: DispatchTimeInterval, on scheduler: any Scheduler) -> Single<Credential> {
        .deferred { [self] in
            let (valid, renewal) = state.withLock { ($0.valid, $0.renewal) }
            if let valid { return .just(valid) }
            if let renewal, Self.ownRenewals.contains(where: { $0 === renewal }) {
                throw APIError.invalidRequest(
                    reason: "it is part of the refresh of the token, and would wait for itself; send it through a provider without the "
                        + "AuthenticationMiddleware, or with .option(\\.isAuthenticated, false)")
            }
            return renewed.timeout(timeout, scheduler: scheduler)
                .flatMap { $0.map { .just($0) } ?? self.valid(within: timeout, on: scheduler) }
        }
    }
}
