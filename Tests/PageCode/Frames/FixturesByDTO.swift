import XCTest

nonisolated final class FixturesByDTO: XCTestCase {
    private var provider: DefaultAPIProvider!
    private var disposeBag: DisposeBag!

    override func tearDown() { MockURLProtocol.reset() }

    // The page
}
