/// What ``Single/continuing(_:)`` does after an event.
package enum Continuation<Element: Sendable>: Sendable {
    /// Delivers this event.
    case event(SingleEvent<Element>)
    /// Subscribes to this single.
    case single(Single<Element>)
}

extension Single {
    /// Continues with the result of `transform` for the event: `map`, `mapError` and `flatMap` in one step.
    ///
    /// A single that it returns is subscribed to on the thread that delivers the event, after this one has been torn down. If `transform`
    /// throws, the single fails with that error.
    package func continuing<R: Sendable>(
        _ transform: @escaping @Sendable (SingleEvent<Element>) throws -> Continuation<R>
    ) -> Single<R> {
        Single<R> { subscription, observer in
            run(in: subscription) { subscription, event in
                let next: Continuation<R>
                do { next = try transform(event) } catch { return subscription.forward(.failure(error), to: observer) }
                switch next {
                case .event(let event): return subscription.forward(event, to: observer)
                case .single(let single): return .afterDisposal(subscription) { single.run(in: $0, observer) }
                }
            }
        }
    }
}
