import Dispatch
import MiniRx

/// A token, and which one it is: a server may give the same one again.
struct Credential {
    let token: String
    let generation: Int
    /// How often somebody has signed out before.
    let user: Int
}

/// Holds the token, and has it refreshed once for all who ask at the same time.
final class CredentialStore: Sendable {
    private struct State {
        var token: String?
        var generation = 0
        var user = 0
        var isExpired = false
        var refresh: Refresh?

        /// The token, unless it is known to be refused.
        var valid: Credential? { isExpired ? nil : token.map { Credential(token: $0, generation: generation, user: user) } }

        mutating func set(_ token: String?) {
            self.token = token
            generation += 1
            isExpired = false
            if token == nil { user += 1 }
        }
    }

    /// A refresh that is under way. Its event is `nil` when a token is set meanwhile.
    private final class Refresh: Sendable {
        let observer: Single<Credential?>.SingleObserver

        init(observer: @escaping Single<Credential?>.SingleObserver) { self.observer = observer }
    }

    /// The refreshes that the current task, or what runs on this thread, is part of.
    @TaskLocal private static var ownRefreshes: [Refresh] = []

    private let state: Locked<State>
    private let refreshed: Single<Credential?>

    init(token: String?, refresh: @escaping @Sendable (String?) -> Single<String>) {
        let state = Locked(State(token: token))
        self.state = state
        refreshed = Single.create { observer in
            let this = Refresh(observer: observer)
            let (valid, expired, generation) = state.withLock { state in
                if state.valid == nil { state.refresh = this }
                return (state.valid, state.token, state.generation)
            }
            // Whoever came a moment too late to join the last refresh finds what it has brought.
            if let valid {
                observer(.success(valid))
                return Disposables.create()
            }
            let end: @Sendable (String?) -> Credential? = { token in
                state.withLock { state in
                    if state.refresh === this { state.refresh = nil }
                    guard let token, state.generation == generation else { return nil }
                    state.set(token)
                    return state.valid
                }
            }
            let subscription = Self.$ownRefreshes.withValue(Self.ownRefreshes + [this]) {
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
                subscription.dispose()
            }
        }.share()
    }

    var token: String? {
        get { state.withLock(\.token) }
        set {
            let refresh = state.withLock { state in
                state.set(newValue)
                return state.refresh.take()
            }
            refresh?.observer(newValue == nil ? .failure(Self.signedOut) : .success(nil))
        }
    }

    /// Whether a request with `credential` may be sent again with another: not once its user has signed out. Its credential is refused.
    func expire(_ credential: Credential) -> Bool {
        state.withLock { state in
            if state.generation == credential.generation { state.isExpired = true }
            return state.user == credential.user
        }
    }

    /// A credential that is not known to be refused: the one that is there, or else the one of a refresh, if it comes in time.
    ///
    /// - Parameter user: Whose it must be; `nil` is anybody's.
    func valid(of user: Int? = nil, within timeout: DispatchTimeInterval, on scheduler: any Scheduler) -> Single<Credential> {
        .deferred { [self] in
            let (valid, refresh, present) = state.withLock { ($0.valid, $0.refresh, $0.user) }
            if let user, user != present { throw Self.signedOut }
            if let valid { return .just(valid) }
            if let refresh, Self.ownRefreshes.contains(where: { $0 === refresh }) {
                throw APIError.invalidRequest(
                    reason: "it is part of the refresh of the token, and would wait for itself; send it through a provider without the "
                        + "AuthenticationMiddleware, or with .option(\\.isAuthenticated, false)")
            }
            return refreshed.timeout(timeout, scheduler: scheduler)
                .flatMap { $0.map { .just($0) } ?? self.valid(of: present, within: timeout, on: scheduler) }
        }
    }

    private static let signedOut = APIError.invalidRequest(reason: "the user signed out while it waited for a new token")
}
