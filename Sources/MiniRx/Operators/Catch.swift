extension Single {
    /// Continues with the single that `handler` returns for an error. If `handler` throws, its error replaces the first.
    ///
    /// ![The source fails after one second. The second source starts then, and its value is delivered.](catch)
    @preconcurrency @inlinable
    public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Single) -> Single {
        Single { context, observer in
            run(&context) { context, event in
                guard case .failure(let error) = event else { return observer(&context, event) }
                guard !context.isDisposed else { return nil }
                let next: Single
                do { next = try handler(error) } catch { return observer(&context, .failure(error)) }
                return context.start(next, observer)
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
