import TestSupport
import Testing

@Suite("The pages on bad networks")
struct BadNetworksPageTests {
    @Test("The maintainer's page has each fault with its case and its sentence")
    func faults() throws {
        let table = try rows(after: "| The server", of: "Documentation/Faults.md")
        #expect(table == Fault.all.map(\.row), "\(Fault.all.map(\.row).joined(separator: "\n"))")
    }

    @Test("The user's page has each error of the faults, in ten rows")
    func errors() throws {
        let table = try rows(after: "| What happens", of: "Sources/APIProvider/APIProvider.docc/BadNetworks.md")
        #expect(table.count == 10)
        for fault in Fault.all where fault.outcome.kind != "a value" {
            // The status of a refusal may be any.
            let names = fault.outcome.kind.components(separatedBy: ", ").filter { $0.hasPrefix("`") }
            #expect(table.contains { row in names.allSatisfy(row.contains) }, "No row has \(fault.outcome.kind).")
        }
    }

    /// The rows of the table whose head begins with `head`.
    private func rows(after head: String, of page: String) throws -> [String] {
        let lines = try PackageFile(page).text.components(separatedBy: "\n")
        return Array(lines.drop { !$0.hasPrefix(head) }.dropFirst(2).prefix { $0.hasPrefix("| ") })
    }
}
