import Dispatch
import MiniRx

/// A token with a number, because a server may give the same token again.
struct Credential {
    let token: String
    let generation: Int
}

/// Numbers the sign-outs of all users, so that a request knows whether one came after it began.
enum SignOuts {
    private static let count = Locked(0)

    static var latest: Int { count.withLock { $0 } }

    fileprivate static func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// Holds the token, and refreshes it once for all requests that need it at the same time.
final class CredentialStore: Sendable {
    private struct State {
        var token: String?
        var generation = 0
        /// The number of the last sign-out.
        var signOut = 0
        var isExpired = false
        var refresh: Refresh?

        /// The token, unless it is known to be refused.
        var valid: Credential? { isExpired ? nil : token.map { Credential(token: $0, generation: generation) } }

        mutating func set(_ token: String?) {
            self.token = token
            generation += 1
            isExpired = false
            if token == nil { signOut = SignOuts.next() }
        }
    }

    /// A refresh that is under way. Its event is `nil` when a token is set meanwhile.
    private final class Refresh: Sendable {
        let observer: Single<Credential?>.SingleObserver

        init(observer: @escaping Single<Credential?>.SingleObserver) { self.observer = observer }
    }

    /// The refreshes that the current task or thread is part of.
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
            // A request that came too late to join the last refresh uses the token of that.
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

    /// Notes that the server has refused `credential`. Returns whether the request may be sent again with another, which it may not if its
    /// user has signed out.
    ///
    /// - Parameter began: The latest sign-out when the request began.
    func expire(_ credential: Credential, of began: Int) -> Bool {
        state.withLock { state in
            if state.generation == credential.generation { state.isExpired = true }
            return state.signOut <= began
        }
    }

    /// A credential that the server has not refused: the current one, or else the one of a refresh, if it comes in time. Fails if the user of
    /// the request has signed out.
    ///
    /// - Parameter began: The latest sign-out when the request began.
    func valid(of began: Int, within timeout: DispatchTimeInterval, on scheduler: any Scheduler) -> Single<Credential> {
        .deferred { [self] in
            let (valid, refresh, signOut) = state.withLock { ($0.valid, $0.refresh, $0.signOut) }
            guard signOut <= began else { throw Self.signedOut }
            if let valid { return .just(valid) }
            if let refresh, Self.ownRefreshes.contains(where: { $0 === refresh }) {
                throw APIError.invalidRequest(
                    reason: "it is part of the refresh of the token, and would wait for itself; send it through a provider without the "
                        + "AuthenticationMiddleware, or with .option(\\.isAuthenticated, false)")
            }
            return refreshed.timeout(timeout, scheduler: scheduler)
                .flatMap { $0.map { .just($0) } ?? self.valid(of: began, within: timeout, on: scheduler) }
        }
    }

    private static let signedOut = APIError.invalidRequest(reason: "its user has signed out")
}
