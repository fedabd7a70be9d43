/// The refreshes that the current task or thread is part of.
enum RefreshContext {
    @TaskLocal static var enclosingRefreshes: [any CredentialRefresh] = []

    /// Whether any of them has not ended.
    static var isAnyUnderWay: Bool { enclosingRefreshes.contains(where: \.isUnderWay) }
}

/// A refresh, which may have ended.
protocol CredentialRefresh: AnyObject, Sendable {
    var isUnderWay: Bool { get }
}
