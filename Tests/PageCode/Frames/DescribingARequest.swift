import Testing

nonisolated private struct SearchResponse: Codable { let items: [Item] }
nonisolated private struct Issue: Codable {}
nonisolated private struct AccessToken: Codable {}
nonisolated private struct Refusal: Codable, Error {}

@Test("A text with a query keeps it, and the path of the base URL")
private func textWithAQuery() throws {
    let sent = try posts(at: "/wp/v2/posts?context=mobile&name=a%26b")
        .preparedRequest(relativeTo: URL(string: "https://example.com/wp-json"))
    #expect(sent.url.absoluteString == "https://example.com/wp-json/wp/v2/posts?context=mobile&name=a%26b")
}
