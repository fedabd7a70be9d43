import APIProvider

@main
struct Tool {
    static func main() async {
        let keyword = CommandLine.arguments.dropFirst().first ?? "swift"
        do {
            let provider = GitHub.makeProvider()
            let response = try await provider.request(SearchRequest(keyword: keyword))
                .value
            for repository in response.items {
                print("\(repository.owner.login)/\(repository.name)")
            }
        } catch {
            print(error)
        }
    }
}
