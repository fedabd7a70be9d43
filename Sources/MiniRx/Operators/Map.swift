extension Single {
    /// Transforms the value with `transform`, on the value's thread. If `transform` throws, the single fails with that error.
    ///
    /// ![The value 2 becomes 20.](map)
    @preconcurrency
    public func map<R: Sendable>(_ transform: @escaping @Sendable (Element) throws -> R) -> Single<R> {
        Single<R> { subscription, observer in
            run(in: subscription) { subscription, event in
                let mapped: SingleEvent<R>
                do { mapped = .success(try transform(event.get())) } catch { mapped = .failure(error) }
                return subscription.forward(mapped, to: observer)
            }
        }
    }
}
