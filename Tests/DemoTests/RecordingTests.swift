#if os(macOS) || os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("github-demo with a recording, as a UI test launches an app", tenMinutes)
struct DemoRecordingTests {
    private let folder = TemporaryFolder()

    private func recording(_ text: String) throws -> String {
        try Data(text.utf8).write(to: folder.url("search.har"))
        return folder.url("search.har").path
    }

    private let search = """
        {"log":{"version":"1.2","entries":[{"startedDateTime":"2026-01-01T00:00:00.000Z",
        "request":{"method":"GET","url":"https://api.github.com/search/repositories?q=swift&page=1&per_page=30","headers":[]},
        "response":{"status":200,"headers":[{"name":"Content-Type","value":"application/json"}],
        "content":{"size":0,"mimeType":"application/json","text":"{\\"total_count\\":0,\\"incomplete_results\\":false,\\"items\\":[]}"}}}]}}
        """

    @Test("The recording answers another process, and nothing is sent")
    func answered() async throws {
        let outcome = try await Demo(["search", "swift"], environment: ["RECORDING": recording(search)]).run()
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output.hasSuffix("0 of 0 repositories for \"swift\". From the recording search.har.\n"), "\(outcome.output)")
    }

    @Test("A request that it does not have, and a file that is broken, are errors that say so")
    func unanswered() async throws {
        let other = try await Demo(["search", "rust"], environment: ["RECORDING": recording(search)]).run()
        #expect(other.status == 1 && other.error.contains(#"query q: expected "swift", got "rust""#), "\(other.error)")
        let broken = try await Demo(["search", "swift"], environment: ["RECORDING": recording("{\n<<<<<<< a\n")]).run()
        #expect(
            broken.status == 1 && broken.error.contains("search.har, line 2: this is not JSON."), "\(broken.error)")
    }
}
#endif
