extension Single {
    /// Goes on with the single that `handler` makes of an error. If `handler` throws, its error replaces the first.
    @preconcurrency @inlinable
    public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Single) -> Single {
        Single { [run] subscription, observer in
            run(subscription) { subscription, event in
                guard case .failure(let error) = event else { return observer(subscription, event) }
                do {
                    subscription.next(try handler(error), observer)
                } catch {
                    observer(subscription, .failure(error))
                }
            }
        }
    }

    /// Succeeds with `element` where the source fails.
    @inlinable
    public func catchAndReturn(_ element: Element) -> Single {
        self.catch { _ in .just(element) }
    }
}
