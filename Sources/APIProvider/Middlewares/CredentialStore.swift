import Dispatch
import MiniRx

/// A credential with a number, because a server may give the same one again.
struct NumberedCredential<Value: Sendable>: Sendable {
    let value: Value
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

/// The refreshes that the current task or thread is part of.
private enum OwnRefreshes {
    @TaskLocal static var all: [any AnyObject & Sendable] = []
}

/// Holds the credential, and refreshes it once for all requests that need it at the same time.
final class CredentialStore<Value: Sendable>: Sendable {
    typealias Credential = NumberedCredential<Value>

    private struct State {
        var value: Value?
        var generation = 0
        /// The number of the last sign-out.
        var signOut = 0
        var isExpired = false
        var refresh: Refresh?

        /// The credential, unless it is known to be refused.
        var valid: Credential? { isExpired ? nil : value.map { Credential(value: $0, generation: generation) } }

        mutating func set(_ value: Value?) {
            self.value = value
            generation += 1
            isExpired = false
            if value == nil { signOut = SignOuts.next() }
        }
    }

    /// A refresh that is under way. Its event is `nil` when a credential is set meanwhile.
    private final class Refresh: Sendable {
        let observer: Single<Credential?>.SingleObserver

        init(observer: @escaping Single<Credential?>.SingleObserver) { self.observer = observer }
    }

    private let state: Locked<State>
    private let refreshed: Single<Credential?>

    init(_ value: Value?, refresh: @escaping @Sendable (Value?) -> Single<Value>) {
        let state = Locked(State(value: value))
        self.state = state
        refreshed = Single.create { observer in
            let this = Refresh(observer: observer)
            let (valid, expired, generation) = state.withLock { state in
                if state.valid == nil { state.refresh = this }
                return (state.valid, state.value, state.generation)
            }
            // A request that came too late to join the last refresh uses the credential of that.
            if let valid {
                observer(.success(valid))
                return Disposables.create()
            }
            let end: @Sendable (Value?) -> Credential? = { value in
                // The old value is let go outside of the lock.
                let (credential, _) = state.withLock { state -> (Credential?, Value?) in
                    if state.refresh === this { state.refresh = nil }
                    guard let value, state.generation == generation else { return (nil, nil) }
                    let old = state.value
                    state.set(value)
                    return (state.valid, old)
                }
                return credential
            }
            let subscription = OwnRefreshes.$all.withValue(OwnRefreshes.all + [this]) {
                refresh(expired).subscribe { event in
                    switch event {
                    case .success(let value): observer(.success(end(value)))
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

    var current: Value? {
        get { state.withLock(\.value) }
        set {
            let (refresh, _) = state.withLock { state in
                let old = state.value
                state.set(newValue)
                return (state.refresh.take(), old)
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
            if let refresh, OwnRefreshes.all.contains(where: { $0 === refresh }) {
                throw APIError.invalid(
                    "it is part of the refresh of the token, and would wait for itself; send it through a provider without the "
                        + "AuthenticationMiddleware, or with .option(\\.isAuthenticated, false)")
            }
            return refreshed.timeout(timeout, scheduler: scheduler)
                .flatMap { $0.map { .just($0) } ?? self.valid(of: began, within: timeout, on: scheduler) }
        }
    }

    private static var signedOut: APIError { APIError.invalid("its user has signed out") }
}
