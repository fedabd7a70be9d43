extension Single {
    /// Continues after an error with the single returned by `handler`. An error thrown by `handler` replaces the first.
    ///
    /// ![The source fails after one second. The second source starts then, and its value is delivered.](catch)
    @preconcurrency
    public func `catch`(_ handler: @escaping @Sendable (any Error) throws -> Single) -> Single {
        Single { subscription, observer in
            run(in: subscription) { subscription, event in
                guard case .failure(let error) = event else { return subscription.forward(event, to: observer) }
                let next: Single
                do { next = try handler(error) } catch { return subscription.forward(.failure(error), to: observer) }
                return .afterDisposal(subscription) { next.run(in: $0, observer) }
            }
        }
    }

    /// Succeeds with `element` if the source fails.
    ///
    /// ![The source fails, and the value 0 is delivered instead.](catchAndReturn)
    public func catchAndReturn(_ element: Element) -> Single {
        self.catch { _ in .just(element) }
    }
}
