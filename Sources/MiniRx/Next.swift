/// The start of a source that must wait until the source before it has returned and is released.
///
/// An observer returns it, and its caller starts it when it can, on the thread of the event. This keeps the order right and the stack flat.
@usableFromInline
struct Next {
    /// The chain that the source belongs to. `nil` if that has no subscription yet.
    @usableFromInline let subscription: Subscription?
    @usableFromInline let owner: Fork?
    @usableFromInline let start: (inout Context) -> Next?

    @inlinable
    init(of context: Context, start: @escaping (inout Context) -> Next?) {
        (subscription, owner, self.start) = (context.subscription, context.owner, start)
    }

    /// Starts `first`, then what that returns, and so on.
    @inlinable
    static func run(_ first: Next?) {
        var next = first
        while let current = next {
            var context = Context(current.subscription, owner: current.owner)
            let following = current.start(&context)
            next = context.unwind(following)
        }
    }
}
