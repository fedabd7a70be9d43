extension Single {
    /// Continues with the single that `handler` returns for an error. If `handler` throws, its error replaces the first.
    ///
    /// ![The source fails after one second. The second source starts then, and its value is delivered.](catch)
    @preconcurrency @inlinable
    public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Single) -> Single {
        Single { chain, observer in
            run(chain) { chain, event in
                guard case .failure(let error) = event else { return chain.pass(event, to: observer) }
                guard !chain.isOver else { return }
                let next: Single
                do { next = try handler(error) } catch { return chain.pass(.failure(error), to: observer) }
                chain.start(next, observer)
            }
        }
    }

    /// Succeeds with `element` if the source fails.
    ///
    /// ![The source fails, and the value 0 is delivered instead.](catchAndReturn)
    @inlinable
    public func catchAndReturn(_ element: Element) -> Single {
        self.catch { _ in .just(element) }
    }
}
