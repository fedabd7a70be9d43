import APIProvider
import APIProviderMocks
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

/// A bundle with a folder that Foundation takes for the bundle's own, as `.copy("Resources")` makes it.
private enum Folder {
    static let temporary = TemporaryFolder()
    static let bundle: Bundle? = {
        let root = temporary.url("Tests.resources")
        let resources = root.appendingPathComponent("Resources/orders.archive")
        try? FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
        for name in ["User.json", "search.v2.json", "page.html", "orders.archive/7.json", "orders.archive.json"] {
            try? Data(name.utf8).write(to: root.appendingPathComponent("Resources/\(name)"))
        }
        return Bundle(url: root)
    }()
}

private struct InResources: MockDTO {
    let fileName: String
    static var bundle: Bundle { Folder.bundle ?? .main }
    static var subdirectory: String? { "Resources" }
}

private struct AtTheTop: MockDTO {
    let fileName: String
    static var bundle: Bundle { Folder.bundle ?? .main }
}

@Suite("Fixtures", .mockNetwork)
struct FixtureTests {
    @Test(
        "A fixture is found where Bundle.url(forResource:) finds it, with or without .json",
        arguments: [
            ("User", "User.json"), ("User.json", "User.json"), ("search.v2", "search.v2.json"), ("search.v2.json", "search.v2.json"),
            ("page.html", "page.html"), ("orders.archive/7", "orders.archive/7.json"),
            ("orders.archive", "orders.archive.json"),  // The folder of that name is no fixture.
        ])
    func names(name: String, file: String) async throws {
        for response in [StubResponse.fixture(InResources(fileName: name)), .fixture(AtTheTop(fileName: name))] {
            MockURLProtocol.stub(.get, "/a", respond: response)
            let answer = try await mocked.request(Endpoint<APIResponse>(.get, "/a") { $0 }).value
            #expect(String(decoding: answer.data, as: UTF8.self) == file)
            #expect(answer.headers["Content-Type"] == (file.hasSuffix(".json") ? "application/json" : nil))
        }
    }

    @Test(
        "The error of a missing fixture names what it has looked for, and what is there",
        arguments: [("search.v3", #""search.v3" or "search.v3.json""#), ("Missing", #""Missing.json""#)])
    func missing(name: String, files: String) async throws {
        try await MockURLProtocol.withScope {
            MockURLProtocol.responseWithDTO(type: AtTheTop(fileName: name))
            let text = try await mocked.failure(of: Endpoint<Data>(.get, "/a")).description
            #expect(text.contains("There is no fixture \(files) in "), "\(text)")
            #expect(text.contains("It holds: User.json, orders.archive, orders.archive.json, page.html, search.v2.json."), "\(text)")
        }
    }
}
