import Dispatch
import MiniRx

/// A credential with a number, because a server may return the same credential again.
struct VersionedCredential<Value: Sendable>: Sendable {
    /// `nil` for requests without a credential, which a store that cannot refresh allows.
    let value: Value?
    let version: Int
    /// The end of the minute of grace after a refresh; `nil` for a credential set by the app outside a refresh. Until then, the credential
    /// does not expire, and a rejected second attempt pauses refreshes.
    let refreshCooldownEnd: DispatchTime?
}

/// Holds the credential, and refreshes once for all requests that need a credential at the same time.
final class CredentialStore<Value: Sendable>: Sendable {
    typealias Credential = VersionedCredential<Value>

    private enum Decision {
        case use(Credential)
        case wait(Refresh)
        case start(Refresh, expired: Value?)
    }

    private struct State {
        let canRefresh: Bool
        var value: Value?
        var version = 0
        var refreshCooldownEnd: DispatchTime?
        /// `SignOutCounter` just after this store's last sign-out; 0 without one. A request with a smaller count belongs to the previous
        /// user.
        var signOutCountAtLastSignOut = 0
        var needsRefresh = false
        /// Whether the needed refresh is early: if it fails, the credential is still used, being neither expired nor rejected.
        var isEarlyRefresh = false
        /// No early refresh starts before this time, because the last one failed.
        var earlyRefreshPausedUntil: DispatchTime?
        var refresh: Refresh?
        /// The refresh whose closure has set `credential`. `nil` if a refresh has returned the credential, or the app has set it.
        var settingRefresh: Refresh?
        /// The last refresh's error; `nil` after a success, or after the app set a credential.
        var failure: (any Error)?
        /// No rejection starts a refresh before this time. Set when the server rejects a credential right after a refresh.
        var refreshPausedUntil: DispatchTime?

        /// The credential, unless known to need a refresh.
        var valid: Credential? {
            guard !needsRefresh, value != nil || !canRefresh else { return nil }
            return Credential(value: value, version: version, refreshCooldownEnd: refreshCooldownEnd)
        }

        mutating func set(_ value: Value?, refreshCooldownEnd: DispatchTime? = nil, in settingRefresh: Refresh? = nil) {
            (self.value, self.refreshCooldownEnd, self.settingRefresh) = (value, refreshCooldownEnd, settingRefresh)
            if refreshCooldownEnd == nil { refreshPausedUntil = nil }
            version += 1
            (needsRefresh, isEarlyRefresh, earlyRefreshPausedUntil, failure) = (false, false, nil, nil)
            if value == nil { signOutCountAtLastSignOut = SignOutCounter.advance() }
        }

        /// Decides what one request does.
        ///
        /// - Parameters:
        ///   - signOutCount: The number of sign-outs at the request's subscription.
        ///   - rejected: The request's rejected or expired credential.
        mutating func decision(signOutCount: Int, after rejected: Credential?, store: ObjectIdentifier) throws -> Decision {
            guard signOutCountAtLastSignOut <= signOutCount else { throw APIError.signedOut }
            if let valid { return .use(valid) }
            if let refresh { return .wait(refresh) }
            // A failed refresh is also the answer for requests sent before. None is sent between a failure and the next refresh.
            if let failure, rejected != nil { throw failure }
            let new = Refresh(of: store)
            refresh = new
            return .start(new, expired: value)
        }
    }

    /// A refresh. Continues without waiting requests, because the server may have acted already.
    private final class Refresh: Sendable {
        private struct State {
            var waiting: [Int: Single<Credential?>.SingleObserver] = [:]
            var lastNumber = 0
            var event: SingleEvent<Credential?>?
            var isReplaced = false
        }

        let subscription = SerialDisposable()
        private let store: ObjectIdentifier
        private let state = Locked(State())

        init(of store: ObjectIdentifier) { self.store = store }

        /// Whether a sign-out or another credential ended this refresh of `store`.
        func isReplaced(in store: ObjectIdentifier) -> Bool { self.store == store && state.withLock(\.isReplaced) }

        /// Ends the refresh because the app set a credential or signed out.
        func replace(with event: SingleEvent<Credential?>) {
            state.withLock { $0.isReplaced = true }
            subscription.dispose()
            // The waiting requests go on elsewhere: the thread that sets a credential may hold a lock.
            DispatchQueue.global().async { [self] in end(event) }
        }

        /// The new credential; `nil` to use the store's: set by the app meanwhile, or not expired yet.
        var credential: Single<Credential?> {
            .create { [self] observer in
                let (number, event) = state.withLock { state in
                    state.lastNumber += 1
                    if state.event == nil { state.waiting[state.lastNumber] = observer }
                    return (state.lastNumber, state.event)
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

    /// - Parameters:
    ///   - scheduler: The scheduler for waiting requests' timeouts.
    ///   - refresh: Returns a new credential. Without this closure, the credential is used even if it is rejected.
    init(_ value: Value?, scheduler: any Scheduler, refresh: (@Sendable (Value?) -> Single<Value>)?) {
        (state, self.scheduler) = (Locked(State(canRefresh: refresh != nil, value: value)), scheduler)
        self.refresh = refresh ?? { _ in .error(APIError.signedOut) }
    }

    var current: Value? {
        get { state.withLock(\.value) }
        set {
            let (enclosing, cooldownEnd) = (RefreshContext.enclosingRefreshes, scheduler.now + .seconds(60))
            let replaced = enclosing.filter { ($0 as? Refresh)?.isReplaced(in: ObjectIdentifier(self)) == true }
            // The old value and the old error are released outside the lock.
            let (refresh, _) = state.withLock { state -> (Refresh?, (Value?, (any Error)?, Refresh?)) in
                let old = (state.value, state.failure, state.settingRefresh)
                // After a sign-out, a refresh that still runs may set a credential: it belongs to the user who has gone.
                guard newValue == nil || replaced.allSatisfy({ $0 === state.settingRefresh }) else { return (nil, old) }
                // The closure of a refresh sets the credential that this refresh is about to return.
                let refreshes = newValue == nil ? [] : [state.refresh, state.settingRefresh].compactMap { $0 }
                let own = refreshes.first { refresh in enclosing.contains { $0 === refresh } }
                state.set(newValue, refreshCooldownEnd: own == nil ? nil : cooldownEnd, in: own)
                return (state.refresh.take(), old)
            }
            refresh?.replace(with: newValue == nil ? .failure(APIError.signedOut) : .success(nil))
        }
    }

    /// Notes that `credential` has expired or, if `isEarly`, will soon. Returns false to use the credential anyway: right after a refresh,
    /// because to a fast clock the next credential would look the same, and right after a failed early refresh.
    func markExpired(_ credential: Credential, isEarly: Bool) -> Bool {
        let now = scheduler.now
        if let end = credential.refreshCooldownEnd, now < end { return false }
        return state.withLock { state in
            if isEarly, let end = state.earlyRefreshPausedUntil, now < end { return false }
            guard state.version == credential.version else { return true }
            state.isEarlyRefresh = isEarly && (state.isEarlyRefresh || !state.needsRefresh)
            state.needsRefresh = true
            return true
        }
    }

    /// Notes that the server rejected `credential`. Returns whether the request may be sent again with another.
    ///
    /// - Parameter signOutCount: The number of sign-outs at the request's subscription.
    func markRejected(_ credential: Credential, signOutCount: Int) -> Bool {
        let now = scheduler.now
        return state.withLock { state in
            guard state.canRefresh, state.signOutCountAtLastSignOut <= signOutCount else { return false }
            guard state.version == credential.version, !state.needsRefresh || state.isEarlyRefresh else { return true }
            if let end = state.refreshPausedUntil, now < end { return false }
            (state.needsRefresh, state.isEarlyRefresh) = (true, false)
            return true
        }
    }

    /// Notes that the server rejected `credential` in a request's second attempt. Right after a refresh, another refresh would not help.
    func pauseRefreshes(after credential: Credential) {
        guard let refreshCooldownEnd = credential.refreshCooldownEnd, scheduler.now < refreshCooldownEnd else { return }
        state.withLock { state in
            if state.version == credential.version { state.refreshPausedUntil = refreshCooldownEnd }
        }
    }

    // MARK: - Refreshing

    /// The current credential or, if rejected, one from a refresh in time. Fails if the request's user signed out.
    ///
    /// - Parameters:
    ///   - signOutCount: The number of sign-outs at the request's subscription.
    ///   - rejected: The rejected or expired credential.
    ///   - timeoutError: The error without a credential in time.
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
                // The old value and the old error are released outside the lock.
                let (credential, _) = state.withLock { state -> (SingleEvent<Credential?>, (Value?, (any Error)?, Refresh?)) in
                    guard state.refresh === new else { return (.success(nil), (nil, nil, nil)) }
                    state.refresh = nil
                    let old = (state.value, state.failure, state.settingRefresh)
                    switch event {
                    case .success(let value):
                        state.set(value, refreshCooldownEnd: now + .seconds(60))
                        return (.success(state.valid), old)
                    case .failure where state.isEarlyRefresh:
                        (state.needsRefresh, state.isEarlyRefresh, state.earlyRefreshPausedUntil) = (false, false, now + .seconds(10))
                        return (.success(nil), old)
                    case .failure(let error):
                        state.failure = error
                        return (.failure(error), old)
                    }
                }
                new.end(credential)
            }
        }
    }
}

/// The refreshes around the current task or thread.
enum RefreshContext {
    @TaskLocal static var enclosingRefreshes: [any AnyObject & Sendable] = []
}
