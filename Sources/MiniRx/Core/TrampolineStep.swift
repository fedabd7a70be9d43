/// The call to make next. An operator returns it instead of making the call. The loop in ``run()`` makes the call later, so the stack does
/// not grow.
enum TrampolineStep: Sendable {
    typealias Call = @Sendable (Subscription) -> TrampolineStep

    case none
    /// A call that is postponed to keep the stack shallow. It is made before the resource of the source is disposed.
    case beforeDisposal(Subscription, Call)
    /// A call that is made after the resource of the source is disposed, such as the start of the next source.
    case afterDisposal(Subscription, Call)

    /// Makes the calls that come before the disposal. Returns the one after it, if there is one.
    consuming func runBeforeDisposal() -> TrampolineStep {
        var step = self
        while case .beforeDisposal(let subscription, let call) = step { step = Self.perform(call, in: subscription) }
        return step
    }

    /// Makes this call, and those that it returns.
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
