import APIProviderMocks
import Foundation

enum Fixture: String, MockDTO {
    case search = "Search"  // Fixtures/Search.json

    static let bundle = Bundle.module
}
