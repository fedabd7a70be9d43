/// The start of a source, which waits until the one before it has unwound and is released. Whoever gets it starts it, on the thread that the
/// event came on: so the order is right, and the stack stays flat.
@usableFromInline
struct Next {
    /// What it is of: `nil` while that is being started, by the same thread.
    @usableFromInline let subscription: Subscription?
    @usableFromInline let owner: Fork?
    @usableFromInline let start: (inout Context) -> Next?

    @inlinable
    init(of context: Context, start: @escaping (inout Context) -> Next?) {
        (subscription, owner, self.start) = (context.subscription, context.owner, start)
    }

    /// Starts `first`, then what that leaves, and so on.
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
