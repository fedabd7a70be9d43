// flags: -default-isolation MainActor
import XCTest

// error: main actor-isolated initializer 'init(name:testClosure:)' has different actor isolation from nonisolated overridden declaration
final class SearchTests: XCTestCase {
    // error: main actor-isolated instance method 'setUp()' has different actor isolation from nonisolated overridden declaration
    override func setUp() {}
}

nonisolated final class FineTests: XCTestCase {
    override func setUp() {}
}
