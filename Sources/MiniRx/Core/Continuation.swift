/// What remains to do when a call in a chain has returned.
///
/// An operator does not start the next source. It returns the start as a value, and a loop at the bottom of the stack runs it. So the stack
/// does not grow, and a source is released before the next one starts.
enum Continuation {
    typealias Step = (Subscription) -> Continuation

    case none
    /// The rest of a call through many operators, cut off to keep the stack flat. It runs before the source's resource is disposed.
    case rest(Subscription, Step)
    /// The start of the next source, after the event.
    case source(Subscription, Step)

    /// Does what remains of the event. Returns the start of the next source, if there is one.
    consuming func finishEvent() -> Continuation {
        var continuation = self
        while case .rest(let subscription, let step) = continuation { continuation = Self.perform(step, in: subscription) }
        return continuation
    }

    /// Does all that remains.
    consuming func run() {
        var continuation = self
        while true {
            switch continuation {
            case .none: return
            case .rest(let subscription, let step), .source(let subscription, let step):
                continuation = Self.perform(step, in: subscription)
            }
        }
    }

    private static func perform(_ step: Step, in subscription: Subscription) -> Continuation {
        subscription.hold()
        defer { subscription.release() }
        return step(subscription)
    }
}
