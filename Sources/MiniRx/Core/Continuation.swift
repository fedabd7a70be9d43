/// What remains to do when a call in a chain has returned.
///
/// A function that would start the next source returns it instead. A loop at the bottom of the stack then starts it. So the stack does not
/// grow, and a source is released before the next one starts.
enum Continuation {
    typealias Step = (Subscription) -> Continuation

    case none
    /// The rest of an event on its way through many operators.
    case event(Subscription, Step)
    /// The start of the next source, after the event.
    case source(Subscription, Step)

    /// Does what remains of the event. Returns what comes after the event.
    consuming func finishEvent() -> Continuation {
        var continuation = self
        while case .event(let subscription, let step) = continuation { continuation = Self.perform(step, in: subscription) }
        return continuation
    }

    /// Does all that remains.
    consuming func run() {
        var continuation = self
        while true {
            switch continuation {
            case .none: return
            case .event(let subscription, let step), .source(let subscription, let step):
                continuation = Self.perform(step, in: subscription)
            }
        }
    }

    private static func perform(_ step: Step, in subscription: Subscription) -> Continuation {
        subscription.retain()
        defer { subscription.release() }
        return step(subscription)
    }
}

extension Subscription {
    /// Passes an event to the next observer of the chain.
    @inline(__always)
    func forward<Element: Sendable>(_ event: SingleEvent<Element>, to observer: @escaping Single<Element>.Observer) -> Continuation {
        switch nextCall() {
        case .never: .none
        case .now: observer(self, event)
        case .later: .event(self) { observer($0, event) }
        }
    }
}
