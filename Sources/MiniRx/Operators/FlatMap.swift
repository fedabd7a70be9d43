extension Single {
    /// Continues with the single returned by `transform` for the value.
    ///
    /// Subscribes to the second source on the value's thread, after the first source's teardown. If `transform` throws, the single fails
    /// with that error.
    ///
    /// ![The first value arrives after one second. The second source starts then, and both values are delivered together.](flatMap)
    ///
    /// A function may call itself through `flatMap` to any depth, in tail position. The stack does not grow.
    @preconcurrency
    public func flatMap<R: Sendable>(_ transform: @escaping @Sendable (Element) throws -> Single<R>) -> Single<R> {
        Single<R> { subscription, observer in
            run(in: subscription) { subscription, event in
                let next: Single<R>
                do { next = try transform(event.get()) } catch { return subscription.fail(error, observer) }
                return .afterDisposal(subscription) { next.run(in: $0, observer) }
            }
        }
    }
}
