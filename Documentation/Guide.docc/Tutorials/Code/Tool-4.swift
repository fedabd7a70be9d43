import APIProvider
import Foundation
import MiniRx

@main
struct Tool {
    static func main() async {
        let keyword = CommandLine.arguments.dropFirst().first ?? "swift"
        let path = ProcessInfo.processInfo.environment["RECORD"]
        do {
            let provider = GitHub.makeProvider(
                recordingTo: path.map { URL(fileURLWithPath: $0) })
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
