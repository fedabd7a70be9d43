private struct SearchResponse: Codable { let items: [Item] }
private struct Issue: Codable {}
private struct AccessToken: Codable {}
private struct Refusal: Codable, Error {}
