import APIProvider
import APIProviderMocks
import TestSupport
import Testing

/// A provider whose requests the stubs of the current scope answer.
var mocked: DefaultAPIProvider { DefaultAPIProvider(baseURL: example, transport: MockTransport()) }

/// The two ways in which stubs answer.
enum Way: CaseIterable {
    case session, transport

    var provider: DefaultAPIProvider {
        switch self {
        case .session: DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
        case .transport: mocked
        }
    }

    /// On Apple's systems, a session may join chunks, and drop those before an error.
    var keepsChunks: Bool {
        #if canImport(FoundationNetworking)
        true
        #else
        self == .transport
        #endif
    }
}

extension DefaultAPIProvider {
    /// The error of a request that fails.
    func failure(of request: some APIRequest, sourceLocation: SourceLocation = #_sourceLocation) async throws -> APIError {
        try await #require(throws: APIError.self, sourceLocation: sourceLocation) { try await self.request(request).value }
    }
}

/// The message of the error that `MockURLProtocol.verify()` throws.
func verification(sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    try #require(throws: (any Error).self, sourceLocation: sourceLocation) { try MockURLProtocol.verify() }.localizedDescription
}
