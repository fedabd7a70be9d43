/// What a subscription is a branch of: the parts of a `zip`, or the run of a `share`.
@usableFromInline
protocol Owner: AnyObject, Sendable {
    /// Whether the whole has ended, so that no branch goes on.
    var isOver: Bool { get }
    /// Whether the user has disposed all that wait for the branch.
    var isSilent: Bool { get }
    /// Called once for each branch, when that has ended and is released.
    func branchReleased()
}
