import APIProvider
import Foundation

@main
struct Tool {
    static func main() throws {
        let request = try SearchRequest(keyword: "swift").endpoint.preparedRequest(
            relativeTo: GitHub.url)
        print(request.curlCommand())
    }
}
