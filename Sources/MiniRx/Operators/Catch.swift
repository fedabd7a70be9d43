extension Single {
    /// Goes on with the single that `handler` makes of an error. If `handler` throws, its error replaces the first.
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

    /// Succeeds with `element` where the source fails.
    @inlinable
    public func catchAndReturn(_ element: Element) -> Single {
        self.catch { _ in .just(element) }
    }
}
