import APIProvider

@main
struct Tool {
    static func main() async throws {
        let provider = GitHub.makeProvider()
        let response = try await provider.request(SearchRequest(keyword: "swift")).value
        for repository in response.items {
            print("\(repository.owner.login)/\(repository.name)")
        }
    }
}
