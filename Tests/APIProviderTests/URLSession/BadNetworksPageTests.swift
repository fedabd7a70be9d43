import TestSupport
import Testing

@Suite("The page on bad networks")
struct BadNetworksPageTests {
    @Test("The documentation has each fault with its case and its sentence")
    func documentation() throws {
        let lines = try PackageFile("Sources/APIProvider/APIProvider.docc/BadNetworks.md").text.components(separatedBy: "\n")
        let table = Array(lines.drop { !$0.hasPrefix("| The server") }.dropFirst(2).prefix { $0.hasPrefix("| ") })
        #expect(table == Fault.all.map(\.row), "\(Fault.all.map(\.row).joined(separator: "\n"))")
    }
}
