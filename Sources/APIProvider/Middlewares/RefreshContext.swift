/// The refreshes around the current task or thread.
enum RefreshContext {
    @TaskLocal static var enclosingRefreshes: [any AnyObject & Sendable] = []
}
