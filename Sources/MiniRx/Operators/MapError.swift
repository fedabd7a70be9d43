extension Single {
    /// Transforms the error, on the thread on which it arrives.
    ///
    /// ![An error becomes another.](mapError)
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
