import APIProvider
import Observation

@MainActor @Observable
final class SearchModel {
    private(set) var repositories: [Repository] = []
    private(set) var message: String?
    private let provider: any APIProvider

    init(provider: any APIProvider) {
        self.provider = provider
    }
}
