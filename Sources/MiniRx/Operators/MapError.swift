extension Single {
    /// The error that `transform` makes of an error.
    @preconcurrency @inlinable
    public func mapError(_ transform: @escaping @Sendable (any Error) -> any Error) -> Single {
        Single { [run] subscription, observer in
            run(subscription) { subscription, event in observer(subscription, event.mapError(transform)) }
        }
    }
}
