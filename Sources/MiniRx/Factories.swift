extension Single {
    /// A single that runs `subscribe` for each subscription, on the subscriber's thread.
    ///
    /// `subscribe` starts the work and returns what stops it. The first event given to its callback counts, from whatever thread, even when
    /// several race; later ones are ignored. The returned disposable is disposed exactly once: after the event, or when the subscription is
    /// disposed. A callback that is kept for ever keeps nothing else alive once the subscription has ended.
    @preconcurrency @inlinable
    public static func create(subscribe: @escaping @Sendable (@escaping SingleObserver) -> any Disposable) -> Single {
        Single { context, observer in
            let emitter = Emitter(owner: context.subscription == nil ? context.owner : nil, observer)
            return context.admits(emitter) ? emitter.run(subscribe, in: &context) : nil
        }
    }

    /// A single that runs `work` in a task of its own for each subscription. Disposing cancels the task, and then says nothing.
    ///
    /// - Parameters:
    ///   - priority: The task's priority; `nil` takes the subscriber's.
    ///   - work: Gives the value or throws the error.
    public static func create(priority: TaskPriority? = nil, work: @escaping @Sendable () async throws -> Element) -> Single {
        create { observer in
            let task = Task(priority: priority) {
                do {
                    observer(.success(try await work()))
                } catch {
                    observer(.failure(error))
                }
            }
            return Disposables.create { task.cancel() }
        }
    }

    /// A single that succeeds with `element` at once, on the subscriber's thread.
    @inlinable
    public static func just(_ element: Element) -> Single {
        Single(content: .event(.success(element)))
    }

    /// A single that fails with `error` at once, on the subscriber's thread.
    @inlinable
    public static func error(_ error: any Error) -> Single {
        Single(content: .event(.failure(error)))
    }

    /// A single that never ends. Subscribed and dropped, it leaves nothing behind.
    @inlinable
    public static func never() -> Single {
        Single { context, _ in
            _ = context.madeSubscription()
            return nil
        }
    }

    /// A single that asks `factory` for the real one at each subscription, on the subscriber's thread. If `factory` throws, the single fails
    /// with that error.
    @preconcurrency @inlinable
    public static func deferred(_ factory: @escaping @Sendable () throws -> Single) -> Single {
        Single { context, observer in
            guard !context.isDisposed else { return nil }
            let single: Single
            do { single = try factory() } catch { single = .error(error) }
            return single.run(&context, observer)
        }
    }
}
