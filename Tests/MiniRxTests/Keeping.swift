import TestSupport

/// Whether the token that `work` hands to closures is alive when `work` has returned.
func isKept(_ work: (Token) throws -> Void) rethrows -> Bool {
    weak var token: Token?
    do {
        let held = Token()
        token = held
        try work(held)
    }
    return token != nil
}

#if os(Linux)
/// Whether the process needs less than `kilobytes` more when `work` runs again.
func isFlat(within kilobytes: Int, _ work: () throws -> Void) throws -> Bool {
    try work()
    let before = try residentKilobytes()
    try work()
    return try residentKilobytes() - before < kilobytes
}
#endif
