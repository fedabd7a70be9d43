/// What has branches: chains inside of a chain, with ends of their own.
@usableFromInline
class Owner: @unchecked Sendable {  // It has no state of its own.
    @inlinable
    init() {}

    /// Whether no branch of this is to go on.
    @usableFromInline var isOver: Bool { false }
    /// Whether the user has disposed what `subscribe` has returned.
    @usableFromInline var hasBeenDisposed: Bool { false }

    /// Takes a branch, which is to end when this does. False if it is too late: then the branch must not start.
    @usableFromInline
    func adopt(_ branch: Subscription) -> Bool { true }
}
