package import Testing

/// Ends a test that hangs, on the systems that have the clock for it.
package var tenMinutes: any SuiteTrait & TestTrait {
    if #available(macOS 13, iOS 16, tvOS 16, watchOS 9, *) { return .timeLimit(.minutes(10)) }
    return .tags()
}
