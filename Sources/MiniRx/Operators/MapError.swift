extension Single {
    /// Transforms the error with `transform`, on the error's thread.
    ///
    /// ![An error becomes another.](mapError)
    @preconcurrency
    public func mapError(_ transform: @escaping @Sendable (any Error) -> any Error) -> Single {
        Single { subscription, observer in
            run(in: subscription) { subscription, event in
                guard case .failure(let error) = event else { return subscription.forward(event, to: observer) }
                return subscription.forward(.failure(transform(error)), to: observer)
            }
        }
    }
}
