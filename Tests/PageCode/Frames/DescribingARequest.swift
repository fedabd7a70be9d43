nonisolated private struct SearchResponse: Codable { let items: [Item] }
nonisolated private struct Issue: Codable {}
nonisolated private struct AccessToken: Codable {}
nonisolated private struct Refusal: Codable, Error {}
