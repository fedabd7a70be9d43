import Foundation
import Testing

@testable import APIProvider
@testable import APIProviderTransport

@Suite("Names of types")
struct NameInSourceTests {
    @Test(
        "A type has the name in an error that its user writes",
        arguments: [
            (Nested.self, "NameInSourceTests.Nested"), ([String: Nested?].self, "Dictionary<String, Optional<NameInSourceTests.Nested>>"),
            ((Int, URL).self, "(Int, URL)"), (Hidden.Inner.self, "Hidden.Inner"), ([Int].Page.self, "Array<Int>.Page"),
            ([Int].Page?.self, "Optional<Array<Int>.Page>"), ([Hidden].self, "Array<Hidden>"),
        ] as [(Any.Type, String)])
    func names(type: Any.Type, name: String) { #expect(nameInSource(of: type) == name) }

    private struct Nested {}
}

private struct Hidden {
    struct Inner {}
}

extension Array {
    fileprivate struct Page {}
}
