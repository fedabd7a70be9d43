import APIProvider

struct SearchRequest: APIRequest {
    let keyword: String

    var endpoint: Endpoint<SearchResponse> {
        Endpoint(.get, "/search/repositories", query: ["q": keyword])
    }
}
