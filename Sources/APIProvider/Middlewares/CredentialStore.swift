import Dispatch
import MiniRx

/// A credential with a number, because a server may give the same one again.
struct VersionedCredential<Value: Sendable>: Sendable {
    let value: Value
    let version: Int
    /// One minute after the refresh that returned this credential, or in which the app has set it; `nil` if the app has set it elsewhere.
    /// Until then it does not expire, and if the server rejects a second attempt with it, `refreshPausedUntil` becomes this time.
    let refreshCooldownEnd: DispatchTime?
    /// The number of refreshes that had failed when a request got this credential.
    let failureCount: Int
}

/// Holds the credential, and refreshes it once for all requests that need it at the same time.
final class CredentialStore<Value: Sendable>: Sendable {
    typealias Credential = VersionedCredential<Value>

    private enum Decision {
        case use(Credential)
        case wait(Refresh)
        case start(Refresh, expired: Value?)
    }

    private struct State {
        var value: Value?
        var version = 0
        var refreshCooldownEnd: DispatchTime?
        /// `SignOutCounter` just after the last sign-out of this store; 0 if there was none. A request with a smaller count belongs to the
        /// previous user.
        var signOutCountAtLastSignOut = 0
        var needsRefresh = false
        /// Whether the credential is still used if the refresh fails, because it has neither expired nor been rejected.
        var isDueOnly = false
        /// The time before which no such refresh starts, because the last one has failed.
        var dueRefreshPausedUntil: DispatchTime?
        var refresh: Refresh?
        /// The refresh in which the app has set the credential; `nil` if the app has set it elsewhere, or the refresh has returned it.
        var settingRefresh: Refresh?
        /// The error of the last refresh; `nil` if it has succeeded, or the app has set a credential since then.
        var failure: (any Error)?
        var failureCount = 0
        /// The time before which a rejection starts no refresh. Set when the server rejects a credential right after a refresh.
        var refreshPausedUntil: DispatchTime?

        /// The credential, unless it is known to be rejected.
        var valid: Credential? {
            guard !needsRefresh, let value else { return nil }
            return Credential(value: value, version: version, refreshCooldownEnd: refreshCooldownEnd, failureCount: failureCount)
        }

        mutating func set(_ value: Value?, refreshCooldownEnd: DispatchTime? = nil, in settingRefresh: Refresh? = nil) {
            (self.value, self.refreshCooldownEnd, self.settingRefresh) = (value, refreshCooldownEnd, settingRefresh)
            if refreshCooldownEnd == nil { refreshPausedUntil = nil }
            version += 1
            (needsRefresh, isDueOnly, dueRefreshPausedUntil, failure) = (false, false, nil, nil)
            if value == nil { signOutCountAtLastSignOut = SignOutCounter.advance() }
        }

        /// Decides for one request what to do.
        ///
        /// - Parameters:
        ///   - signOutCount: The number of sign-outs when the request was subscribed to.
        ///   - rejected: The request's credential that was rejected, or has expired.
        mutating func decision(signOutCount: Int, after rejected: Credential?, store: ObjectIdentifier) throws -> Decision {
            guard signOutCountAtLastSignOut <= signOutCount else { throw APIError.signedOut }
            if let valid { return .use(valid) }
            if let refresh { return .wait(refresh) }
            // A refresh that has failed is also the answer for requests that were sent before.
            if let failure, let rejected, rejected.failureCount < failureCount { throw failure }
            let new = Refresh(of: store)
            refresh = new
            return .start(new, expired: value)
        }
    }

    /// A refresh. It does not end with the requests that wait, because the server may have acted on it already.
    private final class Refresh: Sendable {
        private struct State {
            var waiting: [Int: Single<Credential?>.SingleObserver] = [:]
            var last = 0
            var event: SingleEvent<Credential?>?
            var isReplaced = false
        }

        let subscription = SerialDisposable()
        private let store: ObjectIdentifier
        private let state = Locked(State())

        init(of store: ObjectIdentifier) { self.store = store }

        /// Whether a sign-out or another credential has ended this refresh of `store`.
        func isReplaced(in store: ObjectIdentifier) -> Bool { self.store == store && state.withLock(\.isReplaced) }

        /// Ends the refresh because the app has set a credential, or has signed out.
        func replace(with event: SingleEvent<Credential?>) {
            state.withLock { $0.isReplaced = true }
            subscription.dispose()
            end(event)
        }

        /// The new credential, or `nil` if the store has one: the app has set it in the meantime, or the old one has not expired yet.
        var credential: Single<Credential?> {
            .create { [self] observer in
                let (number, event) = state.withLock { state in
                    state.last += 1
                    if state.event == nil { state.waiting[state.last] = observer }
                    return (state.last, state.event)
                }
                if let event { observer(event) }
                return Disposables.create { [self] in _ = state.withLock { $0.waiting.removeValue(forKey: number) } }
            }
        }

        func end(_ event: SingleEvent<Credential?>) {
            let waiting = state.withLock { state in
                guard state.event == nil else { return [Int: Single<Credential?>.SingleObserver]() }
                state.event = event
                defer { state.waiting = [:] }
                return state.waiting
            }
            for (_, observer) in waiting.sorted(by: { $0.key < $1.key }) { observer(event) }
        }
    }

    private let state: Locked<State>
    private let refresh: @Sendable (Value?) -> Single<Value>
    private let scheduler: any Scheduler

    // MARK: - The credential

    /// - Parameter scheduler: The scheduler for the timeouts of requests that wait.
    init(_ value: Value?, scheduler: any Scheduler, refresh: @escaping @Sendable (Value?) -> Single<Value>) {
        (state, self.scheduler, self.refresh) = (Locked(State(value: value)), scheduler, refresh)
    }

    var current: Value? {
        get { state.withLock(\.value) }
        set {
            let (enclosing, cooldownEnd) = (RefreshContext.enclosingRefreshes, scheduler.now + .seconds(60))
            let replaced = enclosing.filter { ($0 as? Refresh)?.isReplaced(in: ObjectIdentifier(self)) == true }
            // The old value and the old error are released outside of the lock.
            let (refresh, _) = state.withLock { state -> (Refresh?, (Value?, (any Error)?, Refresh?)) in
                let old = (state.value, state.failure, state.settingRefresh)
                // What a refresh sets after a sign-out is the previous user's.
                guard newValue == nil || replaced.allSatisfy({ $0 === state.settingRefresh }) else { return (nil, old) }
                // Set within its own refresh, it is the credential of that refresh.
                let refreshes = newValue == nil ? [] : [state.refresh, state.settingRefresh].compactMap { $0 }
                let own = refreshes.first { refresh in enclosing.contains { $0 === refresh } }
                state.set(newValue, refreshCooldownEnd: own == nil ? nil : cooldownEnd, in: own)
                return (state.refresh.take(), old)
            }
            refresh?.replace(with: newValue == nil ? .failure(APIError.signedOut) : .success(nil))
        }
    }

    /// Notes that `credential` has expired or, with `isDueOnly`, will soon. Returns false if it is used anyway: if a refresh has just
    /// returned it, because the next one would look the same to a clock that is ahead, and if a refresh before its end has just failed.
    func markExpired(_ credential: Credential, isDueOnly: Bool) -> Bool {
        let now = scheduler.now
        if let end = credential.refreshCooldownEnd, now < end { return false }
        return state.withLock { state in
            if isDueOnly, let end = state.dueRefreshPausedUntil, now < end { return false }
            guard state.version == credential.version else { return true }
            state.isDueOnly = isDueOnly && (state.isDueOnly || !state.needsRefresh)
            state.needsRefresh = true
            return true
        }
    }

    /// Notes that the server has rejected `credential`. Returns whether the request may be sent again with another.
    ///
    /// - Parameter signOutCount: The number of sign-outs when the request was subscribed to.
    func markRejected(_ credential: Credential, signOutCount: Int) -> Bool {
        let now = scheduler.now
        return state.withLock { state in
            guard state.signOutCountAtLastSignOut <= signOutCount else { return false }
            guard state.version == credential.version, !state.needsRefresh || state.isDueOnly else { return true }
            if let end = state.refreshPausedUntil, now < end { return false }
            (state.needsRefresh, state.isDueOnly) = (true, false)
            return true
        }
    }

    /// Notes that the server has rejected `credential` in the second attempt of a request. If that was right after a refresh, another
    /// refresh would not help.
    func pauseRefreshes(after credential: Credential) {
        guard let refreshCooldownEnd = credential.refreshCooldownEnd, scheduler.now < refreshCooldownEnd else { return }
        state.withLock { state in
            if state.version == credential.version { state.refreshPausedUntil = refreshCooldownEnd }
        }
    }

    // MARK: - Refreshing

    /// A credential that the server has not rejected: the current one, or else the one of a refresh, if it comes in time. Fails if the user
    /// of the request has signed out.
    ///
    /// - Parameters:
    ///   - signOutCount: The number of sign-outs when the request was subscribed to.
    ///   - rejected: The credential that was rejected, or has expired.
    ///   - timeoutError: The error if no credential comes in time.
    func credential(
        signOutCount: Int, after rejected: Credential?, within timeout: DispatchTimeInterval,
        timeoutError: @escaping @Sendable () -> any Error
    ) -> Single<Credential> {
        .deferred { [self] in
            let refresh: Refresh
            switch try state.withLock({ try $0.decision(signOutCount: signOutCount, after: rejected, store: ObjectIdentifier(self)) }) {
            case .use(let credential): return .just(credential)
            case .wait(let other):
                guard !RefreshContext.enclosingRefreshes.contains(where: { $0 === other }) else {
                    throw APIError.invalidRequest(
                        reason: "it is part of the refresh of the token, and would wait for itself; send it through a provider without the "
                            + "AuthenticationMiddleware, or with .option(\\.isAuthenticated, false)")
                }
                refresh = other
            case .start(let new, let expired):
                start(new, expired)
                refresh = new
            }
            return refresh.credential.timeout(timeout, scheduler, error: timeoutError()).flatMap { credential in
                if let credential { return .just(credential) }
                return self.credential(signOutCount: signOutCount, after: rejected, within: timeout, timeoutError: timeoutError)
            }
        }
    }

    private func start(_ new: Refresh, _ expired: Value?) {
        new.subscription.disposable = RefreshContext.$enclosingRefreshes.withValue(RefreshContext.enclosingRefreshes + [new]) {
            refresh(expired).subscribe { [state, scheduler] event in
                let now = scheduler.now
                // The old value and the old error are released outside of the lock.
                let (credential, _) = state.withLock { state -> (SingleEvent<Credential?>, (Value?, (any Error)?, Refresh?)) in
                    guard state.refresh === new else { return (.success(nil), (nil, nil, nil)) }
                    state.refresh = nil
                    let old = (state.value, state.failure, state.settingRefresh)
                    switch event {
                    case .success(let value):
                        state.set(value, refreshCooldownEnd: now + .seconds(60))
                        return (.success(state.valid), old)
                    case .failure where state.isDueOnly:
                        (state.needsRefresh, state.isDueOnly, state.dueRefreshPausedUntil) = (false, false, now + .seconds(10))
                        return (.success(nil), old)
                    case .failure(let error):
                        (state.failure, state.failureCount) = (error, state.failureCount + 1)
                        return (.failure(error), old)
                    }
                }
                new.end(credential)
            }
        }
    }
}
