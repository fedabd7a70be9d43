import APIProvider

struct SearchRequest: APIRequest {
    let keyword: String
    var page: Int?

    var endpoint: Endpoint<SearchResponse> {
        Endpoint(.get, "/search/repositories", query: ["q": keyword, "page": page])
    }
}
