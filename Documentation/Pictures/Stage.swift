import Dispatch
import MiniRx
import MiniRxTesting

/// Where the singles of one diagram run, in virtual time, and what is seen of them there.
final class Stage: @unchecked Sendable {  // Virtual time runs all of it on one thread.
    /// One subscription: when it begins, what comes, and when it ends.
    struct Lane {
        let name: String
        let start: Double
        var marks: [Mark] = []
        /// When it was disposed before an event came.
        var disposed: Double?
        /// The scheduler on which it was subscribed to.
        let place: String?
    }

    struct Mark {
        let time: Double
        /// `nil` is an error.
        let value: String?
        /// Which error it is, unless it is any.
        var error: String?
        /// The scheduler on which it came, if it has a name.
        let place: String?
    }

    struct Failure: Error {}

    let time = TestScheduler()
    private(set) var sources: [Lane] = []
    private(set) var results: [Lane] = []
    private(set) var log: [Mark] = []
    fileprivate(set) var place: String?
    private let beginning: DispatchTime

    init() { beginning = time.now }

    var now: Double { Double(time.now.uptimeNanoseconds - beginning.uptimeNanoseconds) / 1e9 }

    /// A source that succeeds some time after each subscription.
    func value<Element: Sendable>(_ value: Element, after seconds: Double, name: String = "") -> Single<Element> {
        events([.success(value)], after: seconds, name: name)
    }

    /// A source that fails.
    func error<Element: Sendable>(after seconds: Double, name: String = "") -> Single<Element> {
        events([.failure(Failure())], after: seconds, name: name)
    }

    /// A source that ends in another event at each subscription; the last stays.
    func events<Element: Sendable>(_ events: [SingleEvent<Element>], after seconds: Double, name: String = "") -> Single<Element> {
        let remaining = Remaining(events)
        return .create { [self] observer in
            let event = remaining.next()
            let index = sources.count
            sources.append(Lane(name: name, start: now, place: place))
            let timer = time.schedule(after: .milliseconds(Int(seconds * 1000))) {
                self.sources[index].marks.append(self.mark(event))
                observer(event)
            }
            return Disposables.create {
                timer.dispose()
                if self.sources[index].marks.isEmpty { self.sources[index].disposed = self.now }
            }
        }
    }

    /// Virtual time, under the name of a queue.
    func queue(_ name: String) -> some Scheduler { NamedScheduler(name: name, stage: self) }

    func log(_ text: String) { log.append(Mark(time: now, value: text, place: nil)) }

    /// Subscribes at each of `times`, disposes each subscription at `end`, if there is one, and lets the time run.
    func run<Element: Sendable>(_ single: Single<Element>, subscribingAt times: [Double], disposingAt end: Double?) {
        for (index, start) in times.enumerated() {
            _ = time.schedule(after: .milliseconds(Int(start * 1000))) { [self] in
                results.append(Lane(name: times.count > 1 ? "\(index + 1)" : "", start: now, place: nil))
                let subscription = single.subscribe { self.results[index].marks.append(self.mark($0)) }
                guard let end else { return }
                _ = time.schedule(after: .milliseconds(Int((end - start) * 1000))) {
                    if self.results[index].marks.isEmpty { self.results[index].disposed = self.now }
                    subscription.dispose()
                }
            }
        }
        time.advance(by: .seconds(60))
    }

    private func mark<Element>(_ event: SingleEvent<Element>) -> Mark {
        switch event {
        case .success(let value): Mark(time: now, value: value is Void ? "()" : "\(value)", place: place)
        case .failure(let error): Mark(time: now, value: nil, error: error is Failure ? nil : "\(error)", place: place)
        }
    }
}

/// The events of a source that are still to come.
private final class Remaining<Element: Sendable>: @unchecked Sendable {  // As of `Stage`.
    private var events: [SingleEvent<Element>]

    init(_ events: [SingleEvent<Element>]) { self.events = events }

    func next() -> SingleEvent<Element> { events.count > 1 ? events.removeFirst() : events[0] }
}

private struct NamedScheduler: Scheduler {
    let name: String
    let stage: Stage

    var now: DispatchTime { stage.time.now }

    func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        stage.time.schedule(after: delay) {
            let before = stage.place
            stage.place = name
            action()
            stage.place = before
        }
    }
}
