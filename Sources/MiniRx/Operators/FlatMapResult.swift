/// The next step of ``Single/flatMapResult(_:)`` after an event.
package enum NextStep<Element: Sendable>: Sendable {
    /// Delivers this event.
    case event(SingleEvent<Element>)
    /// Subscribes to this single.
    case single(Single<Element>)
}

extension Single {
    /// Continues with the result of `transform` for the event: `map`, `mapError` and `flatMap` in one step.
    ///
    /// Subscribes to a returned single on the event's thread, after this single's teardown. If `transform` throws, the single fails with
    /// that error.
    package func flatMapResult<R: Sendable>(
        _ transform: @escaping @Sendable (SingleEvent<Element>) throws -> NextStep<R>
    ) -> Single<R> {
        Single<R> { subscription, observer in
            run(in: subscription) { subscription, event in
                let next: NextStep<R>
                do { next = try transform(event) } catch { return subscription.forward(.failure(error), to: observer) }
                switch next {
                case .event(let event): return subscription.forward(event, to: observer)
                case .single(let single): return .afterDisposal(subscription) { single.run(in: $0, observer) }
                }
            }
        }
    }
}
