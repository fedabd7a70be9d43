import XCTest

nonisolated final class FixturesByDTO: XCTestCase {
    private var provider: DefaultAPIProvider!
    private var disposeBag: DisposeBag!

    // The page
}
