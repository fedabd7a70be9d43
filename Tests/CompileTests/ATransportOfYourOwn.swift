// A transport of your own sends requests. Queries and links are an app's: they come with APIProvider.
import APIProviderTransport

func send(_ request: PreparedRequest, _ response: APIResponse) throws {
    _ = (request.url, request.headers, response.data)
    _ = request.query  // error: value of type 'PreparedRequest' has no member 'query'
    _ = QueryParameters()  // error: cannot find 'QueryParameters' in scope
    _ = try response.link("next")  // error: value of type 'APIResponse' has no member 'link'
}
