/// The refreshes that the current task or thread is part of.
enum RefreshContext {
    @TaskLocal static var enclosingRefreshes: [any AnyObject & Sendable] = []
}
