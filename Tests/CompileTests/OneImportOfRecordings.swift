// flags: -enable-upcoming-feature MemberImportVisibility
// As the mocks do, recordings bring along what an XCTest or an app with demo data needs.
import APIProviderRecordings

func replayed(_ request: Endpoint<String>) async throws -> String {
    try await MockURLProtocol.withRecording("search") {
        MockURLProtocol.stub(.get, "/user", respond: .status(200))
        let provider = DefaultAPIProvider(baseURL: nil, transport: MockTransport())
        return try await provider.request(request).map(\.self).value
    }
}
