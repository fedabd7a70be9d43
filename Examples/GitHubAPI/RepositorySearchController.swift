public import APIProvider
import Foundation
import MiniRx

/// Connects a search field to a provider. It keeps only the newest search, and loads page after page.
///
/// ```swift
/// let controller = RepositorySearchController(
///     provider: DefaultAPIProvider(baseURL: GitHub.apiURL))
/// controller.onChange = { [weak self] state in self?.show(state) }
/// controller.search("swift")  // from the search field
/// controller.loadNextPage()  // at the end of the list
/// ```
///
/// A new search cancels the one before, and no result of that arrives later. When the controller is released, it cancels its request.
@MainActor
public final class RepositorySearchController {
    /// The state of a search, as a screen shows it.
    public struct State: Sendable {
        /// The keyword that ``repositories`` were found for. It stays the same while another search runs, and if that fails.
        public internal(set) var keyword = ""
        /// The repositories of all pages so far, each of them once.
        public internal(set) var repositories: [Repository] = []
        /// The number of repositories that match.
        public internal(set) var totalCount = 0
        /// Whether a search or a next page is loading.
        public internal(set) var isLoading = false
        /// The error of the last search or next page. The repositories stay.
        public internal(set) var error: (any Error)?
        /// Whether there is another page to load.
        public var hasNextPage: Bool { nextPage != nil }
        var nextPage: URL?
    }

    /// The current state.
    public private(set) var state = State()
    /// Called with each new state. The closure may start another search.
    public var onChange: (@MainActor (State) -> Void)?

    private let provider: any APIProvider
    private let perPage: Int
    private let current = SerialDisposable()

    /// Creates a controller with an empty state.
    ///
    /// - Parameters:
    ///   - provider: Sends the requests.
    ///   - perPage: The number of repositories on a page, from 1 to 100.
    public init(provider: any APIProvider, perPage: Int = 30) {
        self.provider = provider
        self.perPage = min(max(perPage, 1), 100)
    }

    deinit { current.dispose() }

    /// Searches for `text` without the white space around it, and cancels the search before. Blank text clears the state.
    public func search(_ text: String) {
        let keyword = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard keyword.isEmpty else { return load(keyword, SearchRequest(keyword: keyword, perPage: perPage).endpoint, after: []) }
        current.disposable = Disposables.create()
        change(to: State())
    }

    /// Loads the next page and appends it. Does nothing while a page is loading, or after the last page.
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
        guard !subscription.isDisposed else { return }  // `onChange` has started another search.
        subscription.disposable = provider.request(endpoint.page)
            .observe(on: MainActor.shared)
            .subscribe(
                with: self,
                onSuccess: { $0.show($1, keyword, after: shown) },
                onFailure: { $0.show($1) })
    }

    private func show(_ page: GitHubPage<SearchResponse>, _ keyword: String, after shown: [Repository]) {
        // A repository that moves down while pages load comes a second time.
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
