extension Single {
    /// Creates a single that runs `subscribe` for each subscription, on the subscriber's thread.
    ///
    /// `subscribe` starts the work and returns a disposable to stop the work. It may call its callback on any thread. Only the first event
    /// is delivered, even if several threads race. The disposable is disposed exactly once: after the event, or with the subscription. A
    /// callback kept forever keeps nothing else alive after the end.
    ///
    /// ![The work starts at the subscription, and its value arrives two seconds later.](create)
    @preconcurrency
    public static func create(subscribe: @escaping @Sendable (@escaping SingleObserver) -> any Disposable) -> Single {
        Single { subscription, observer in
            let emitter = Emitter(observer)
            guard subscription.addSource(cancel: emitter.cancel) else { return .none }
            let resource = subscribe { emitter.emit($0, in: subscription).run() }
            return emitter.finishStarting(with: resource, in: subscription)
        }
    }

    /// Creates a single that runs `work` in a new task for each subscription. Disposing cancels the task, and no event follows.
    ///
    /// - Parameters:
    ///   - priority: The priority of the task. `nil` is the subscriber's.
    ///   - work: Returns the value or throws the error.
    public static func create(priority: TaskPriority? = nil, work: @escaping @Sendable () async throws -> Element) -> Single {
        create { observer in
            let hasFinished = Locked(false)
            let task = Task(priority: priority) {
                let event: SingleEvent<Element>
                do { event = .success(try await work()) } catch { event = .failure(error) }
                // The downstream operators run in this task, so disposing must no longer cancel the task.
                hasFinished.withLock { $0 = true }
                observer(event)
            }
            return Disposables.create { if !hasFinished.withLock({ $0 }) { task.cancel() } }
        }
    }

    /// Creates a single that succeeds with `element` at once, on the subscriber's thread.
    ///
    /// ![The value arrives at the subscription.](just)
    public static func just(_ element: Element) -> Single {
        Single { $0.forward(.success(element), to: $1) }
    }

    /// Creates a single that fails with `error` at once, on the subscriber's thread.
    ///
    /// ![The error arrives at the subscription.](error)
    public static func error(_ error: any Error) -> Single {
        Single { $0.forward(.failure(error), to: $1) }
    }

    /// Creates a single that never ends. Only you retain its subscription. Releasing a subscription without disposing deallocates it, and
    /// `onDisposed` is not called.
    ///
    /// ![No event arrives.](never)
    public static func never() -> Single {
        Single { _, _ in .none }
    }

    /// Creates a single that calls `factory` at each subscription, on the subscriber's thread, and subscribes to the result.
    ///
    /// If `factory` throws, the single fails with that error.
    ///
    /// ![Each of two subscriptions gets its own source.](deferred)
    @preconcurrency
    public static func deferred(_ factory: @escaping @Sendable () throws -> Single) -> Single {
        Single { subscription, observer in
            let single: Single
            do { single = try factory() } catch { single = .error(error) }
            return single.run(in: subscription, observer)
        }
    }
}
