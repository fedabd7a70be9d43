extension Single {
    /// Continues with the single that `transform` returns for the value.
    ///
    /// The first source is released before the second is subscribed to, on the thread of the value. If `transform` throws, the single fails
    /// with that error.
    ///
    /// ![The first value arrives after one second. The second source starts then, and both values are delivered together.](flatMap)
    ///
    /// A function may call itself through `flatMap` to any depth. The stack does not grow. <doc:Contract> has the limits of other recursion.
    @preconcurrency @inlinable
    public func flatMap<R: Sendable>(_ transform: @escaping @Sendable (Element) throws -> Single<R>) -> Single<R> {
        Single<R> { chain, observer in
            run(chain) { chain, event in
                guard !chain.isOver else { return }
                let next: Single<R>
                do { next = try transform(event.get()) } catch { return chain.pass(.failure(error), to: observer) }
                chain.start(next, observer)
            }
        }
    }
}
