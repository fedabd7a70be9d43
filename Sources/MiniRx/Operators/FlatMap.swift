extension Single {
    /// The single that `transform` makes of the value. The first source is released before the second is subscribed to, on the thread that
    /// the value came on. If `transform` throws, the single fails with that error.
    ///
    /// A function that returns itself by way of `flatMap` may go as deep as it likes: the stack stays flat.
    @preconcurrency @inlinable
    public func flatMap<R: Sendable>(_ transform: @escaping @Sendable (Element) throws -> Single<R>) -> Single<R> {
        Single<R> { context, observer in
            run(&context) { context, event in
                guard !context.isDisposed else { return nil }
                let next: Single<R>
                do { next = try transform(event.get()) } catch { return observer(&context, .failure(error)) }
                return context.start(next, observer)
            }
        }
    }
}
