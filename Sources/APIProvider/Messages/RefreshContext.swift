/// The refreshes that the current task or thread is part of.
enum RefreshContext {
    @TaskLocal static var all: [any RefreshUnderWay] = []

    /// Whether any of them has not ended.
    static var isAnyUnderWay: Bool { all.contains(where: \.isUnderWay) }
}

protocol RefreshUnderWay: AnyObject, Sendable {
    var isUnderWay: Bool { get }
}
