package import MiniRx

/// A source that the test controls: it keeps the callback of each subscription.
package final class Producer<Element: Sendable>: Sendable {
    private let observers = Locked<[Single<Element>.SingleObserver]>([])
    private let resource: @Sendable () -> any Disposable

    package init(resource: @escaping @Sendable () -> any Disposable = { Disposables.create() }) { self.resource = resource }

    package var single: Single<Element> {
        .create { observer in
            self.observers.withLock { $0.append(observer) }
            return self.resource()
        }
    }

    package var subscriptions: Int { observers.withLock(\.count) }

    /// Gives `event` to the latest subscription, as often as it is called.
    package func send(_ event: SingleEvent<Element>) { observers.withLock(\.last)?(event) }
}

package struct TestError: Error, Equatable {
    package let name: String
    package init(_ name: String = "test") { self.name = name }
}
