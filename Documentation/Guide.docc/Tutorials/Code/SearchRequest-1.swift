import APIProvider

struct SearchRequest: APIRequest {
    var endpoint: Endpoint<SearchResponse> {
        Endpoint(.get, "/search/repositories")
    }
}
