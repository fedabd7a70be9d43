extension Single {
    /// The error that `transform` makes of an error.
    @preconcurrency @inlinable
    public func mapError(_ transform: @escaping @Sendable (any Error) -> any Error) -> Single {
        Single { context, observer in
            run(&context) { context, event in
                guard !context.isDisposed else { return nil }
                return observer(&context, event.mapError(transform))
            }
        }
    }
}
