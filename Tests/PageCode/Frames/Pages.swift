private struct SearchRequest: APIRequest {
    struct Response: Codable {
        let items: [String]
        let cursor: String?
    }

    let keyword: String
    var endpoint: Endpoint<Response> { Endpoint(.get, "/search", query: ["q": keyword]) }
}
