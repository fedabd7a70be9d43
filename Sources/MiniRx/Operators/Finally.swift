extension Single {
    /// Calls `cleanUp` before delivering the event, and again on dispose.
    package func finally(_ cleanUp: @escaping @Sendable (_ isDisposed: Bool) -> Void) -> Single {
        .create { observer in
            let subscription = subscribe { event in
                cleanUp(false)
                observer(event)
            }
            return Disposables.create {
                subscription.dispose()
                cleanUp(true)
            }
        }
    }
}
