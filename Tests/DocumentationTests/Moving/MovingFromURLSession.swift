import APIProvider
import Foundation
import MiniRx
import TestSupport

private struct Item: Codable {}

private func moved(
    _ provider: DefaultAPIProvider, _ api: URL, _ item: Item, _ text: String, _ file: URL, _ decoder: JSONDecoder, _ session: URLSession,
    _ error: any Error, _ log: Log<String>
) async throws -> [Any?] {
    [
        try await provider.request(Endpoint<Data>(.get, "/items")).value,
        try await provider.request(Endpoint<[Item]>(.get, "/items")).value,
        DefaultAPIProvider(baseURL: api, decoder: decoder),
        Endpoint<[Item]>(.get, "/search", query: ["q": text]),
        Endpoint<Item>(.post, "/items", body: .json(item)),
        Endpoint<[Item]>(.get, "/items", headers: ["Accept-Language": "en"]),
        DefaultHeadersMiddleware(["Accept-Language": "en"]),
        Endpoint<[Item]>(.get, "/items", timeoutInterval: 10),
        Endpoint<Void>(.put, "/file", body: .file(file, contentType: "image/png")),
        Endpoint(.get, "/file", downloadingTo: file),
        Endpoint<Void>(.put, "/file", body: .file(file, contentType: "image/png")).onProgress { log.append("\($0.bytesSent)") },
        (error as? APIError)?.urlError,
        DefaultAPIProvider(baseURL: api, configuration: .ephemeral),
        DefaultAPIProvider(baseURL: api, session: session),
    ]
}
