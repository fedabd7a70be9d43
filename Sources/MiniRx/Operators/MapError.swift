extension Single {
    /// Transforms the error, on the thread on which it arrives.
    ///
    /// ![An error becomes another.](mapError)
    @preconcurrency @inlinable
    public func mapError(_ transform: @escaping @Sendable (any Error) -> any Error) -> Single {
        Single { chain, observer in
            run(chain) { chain, event in
                guard !chain.isOver else { return }
                chain.pass(event.mapError(transform), to: observer)
            }
        }
    }
}
