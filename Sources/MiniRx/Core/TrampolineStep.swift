/// The next call. An operator returns the call instead of making it, and the loop in ``run()`` makes it later, so the stack does not grow.
enum TrampolineStep: Sendable {
    typealias Call = @Sendable (Subscription) -> TrampolineStep

    case none
    /// A call, postponed to keep the stack shallow, to make before the source's resource is disposed.
    case beforeDisposal(Subscription, Call)
    /// A call to make after the source's resource is disposed, such as the start of the next source.
    case afterDisposal(Subscription, Call)

    /// Makes the calls before the disposal. Returns the call after the disposal.
    consuming func runBeforeDisposal() -> TrampolineStep {
        var step = self
        while case .beforeDisposal(let subscription, let call) = step { step = Self.perform(call, in: subscription) }
        return step
    }

    /// Makes this call and all later ones.
    consuming func run() {
        var step = self
        while true {
            switch step {
            case .none: return
            case .beforeDisposal(let subscription, let call), .afterDisposal(let subscription, let call):
                step = Self.perform(call, in: subscription)
            }
        }
    }

    private static func perform(_ call: Call, in subscription: Subscription) -> TrampolineStep {
        subscription.enter()
        defer { subscription.leave() }
        return call(subscription)
    }
}
