extension Single {
    /// The value, transformed, on the thread it came on. If `transform` throws, the single fails with that error.
    @preconcurrency @inlinable
    public func map<R: Sendable>(_ transform: @escaping @Sendable (Element) throws -> R) -> Single<R> {
        Single<R> { context, observer in
            run(&context) { context, event in
                guard !context.isDisposed else { return nil }
                return observer(&context, event.flatMap { element in Result { try transform(element) } })
            }
        }
    }
}
