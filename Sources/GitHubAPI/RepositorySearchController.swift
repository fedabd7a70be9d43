public import APIProvider
import Foundation
import MiniRx

/// Stands between a search field and a provider: the newest search counts, and pages are added as they are asked for.
///
/// ```swift
/// let controller = RepositorySearchController(provider: DefaultAPIProvider(baseURL: GitHub.apiURL))
/// controller.onChange = { [weak self] state in self?.show(state) }
/// controller.search("swift")   // from the search field
/// controller.loadNextPage()    // at the end of the list
/// ```
///
/// A new search cancels the one before, of which nothing arrives any more. Letting the controller go cancels what is in flight.
@MainActor
public final class RepositorySearchController {
    /// What a screen shows.
    public struct State: Sendable {
        /// What ``repositories`` were found for. While another search is in flight, and when that fails, it is still the one before.
        public internal(set) var keyword = ""
        /// What was found, page after page, each repository once.
        public internal(set) var repositories: [Repository] = []
        /// How many repositories match in all.
        public internal(set) var totalCount = 0
        /// Whether a search or a next page is in flight.
        public internal(set) var isLoading = false
        /// Why the last search or next page failed. What was there before stays.
        public internal(set) var error: (any Error)?
        /// Whether ``RepositorySearchController/loadNextPage()`` finds more.
        public var hasNextPage: Bool { nextPage != nil }
        var nextPage: URL?
    }

    /// What there is now.
    public private(set) var state = State()
    /// Called with the new state after each change of it. It may search again.
    public var onChange: (@MainActor (State) -> Void)?

    private let provider: any APIProvider
    private let perPage: Int
    private let current = SerialDisposable()

    /// A controller that has searched for nothing yet.
    ///
    /// - Parameters:
    ///   - provider: What sends the requests.
    ///   - perPage: How many repositories a page has, from 1 to 100.
    public init(provider: any APIProvider, perPage: Int = 30) {
        self.provider = provider
        self.perPage = min(max(perPage, 1), 100)
    }

    deinit { current.dispose() }

    /// Searches for `text`, without the white space around it, in place of any search before. Blank text clears all.
    public func search(_ text: String) {
        let keyword = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard keyword.isEmpty else { return load(keyword, SearchRequest(keyword: keyword, perPage: perPage).endpoint, after: []) }
        current.disposable = Disposables.create()
        change(to: State())
    }

    /// Loads the page after those that are there, and appends it. Does nothing while something is loading, or when there is no more.
    public func loadNextPage() {
        guard let nextPage = state.nextPage, !state.isLoading else { return }
        load(state.keyword, Endpoint(.get, .url(nextPage)).gitHub, after: state.repositories)
    }

    private func load(_ keyword: String, _ endpoint: Endpoint<SearchResponse>, after shown: [Repository]) {
        let subscription = SerialDisposable()
        current.disposable = subscription
        var loading = state
        (loading.isLoading, loading.error) = (true, nil)
        change(to: loading)
        guard !subscription.isDisposed else { return }  // `onChange` has asked for something else.
        subscription.disposable = provider.request(endpoint.page)
            .observe(on: MainActor.shared)
            .subscribe(
                with: self,
                onSuccess: { $0.show($1, keyword, after: shown) },
                onFailure: { $0.show($1) })
    }

    private func show(_ page: GitHubPage<SearchResponse>, _ keyword: String, after shown: [Repository]) {
        // What moves up while pages are loaded comes a second time.
        var known = Set<Repository.ID>()
        let repositories = (shown + page.value.items).filter { known.insert($0.id).inserted }
        change(to: State(keyword: keyword, repositories: repositories, totalCount: page.value.totalCount, nextPage: page.next))
    }

    private func show(_ error: any Error) {
        var failed = state
        (failed.isLoading, failed.error) = (false, error)
        change(to: failed)
    }

    private func change(to state: State) {
        self.state = state
        onChange?(state)
    }
}
