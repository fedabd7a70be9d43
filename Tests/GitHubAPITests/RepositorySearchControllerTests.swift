import APIProvider
import Foundation
import GitHubAPI
import MiniRx
import TestSupport
import Testing

@MainActor
@Suite("A search field and its results", tenMinutes)
struct RepositorySearchControllerTests {
    private let server = SearchServer()

    @Test("A search shows that it loads, then what was found")
    func search() async {
        let controller = controller()
        var shown: [[String]] = []
        controller.onChange = { shown.append([$0.keyword, "\($0.isLoading)"] + $0.repositories.map(\.name)) }
        controller.search(" swift\n")
        await answer(0, ["a", "b"])
        #expect(shown == [["", "true"], ["swift", "false", "a", "b"]])
        #expect(server.queries == ["q=swift&page=1&per_page=2"])
        #expect(controller.state.totalCount == 2)
    }

    @Test("A new search cancels the one before, whose late answer is nothing")
    func stale() async {
        let controller = controller()
        controller.search("a")
        controller.search("b")
        #expect(server.cancelled == [0])
        await answer(0, ["stale"])
        #expect(controller.state.isLoading)
        #expect(controller.state.repositories.isEmpty)
        await answer(1, ["fresh"])
        await answer(0, ["stale"])
        await fail(0)
        #expect(controller.state.names == ["fresh"])
        #expect(controller.state.error == nil)
    }

    @Test("An answer that was on its way to the main thread when a new search began is nothing")
    func staleOnItsWay() async {
        let controller = controller()
        controller.search("a")
        // Nothing of the main thread's runs before the next suspension, so that the answer can only wait.
        DispatchQueue.global().sync { server.answer(0, ["stale"]) }
        controller.search("b")
        DispatchQueue.global().sync { server.answer(1, ["fresh"]) }
        let shown: [[String]] = await withCheckedContinuation { continuation in
            var shown: [[String]] = []
            controller.onChange = {
                shown.append($0.names)
                guard !$0.isLoading else { return }
                controller.onChange = nil
                continuation.resume(returning: shown)
            }
        }
        #expect(shown == [["fresh"]])
    }

    @Test("The next page is appended, and a repository that comes again is shown once")
    func nextPage() async {
        let controller = controller()
        controller.search("swift")
        await answer(0, ["a", "b"], of: 4)
        controller.loadNextPage()
        #expect(controller.state.isLoading)
        #expect(controller.state.names == ["a", "b"])
        await answer(1, ["b", "c"], of: 4)
        #expect(controller.state.names == ["a", "b", "c"])
        #expect(!controller.state.hasNextPage)
        #expect(server.queries.last == "q=swift&page=2&per_page=2")
    }

    @Test("There is one next page at a time, and none where there is no more")
    func nextPageOnce() async {
        let controller = controller()
        controller.loadNextPage()
        #expect(server.queries.isEmpty)
        controller.search("swift")
        controller.loadNextPage()
        await answer(0, ["a", "b"], of: 4)
        controller.loadNextPage()
        controller.loadNextPage()
        #expect(server.queries.count == 2)
        await answer(1, ["c", "d"], of: 4)
        controller.loadNextPage()
        #expect(server.queries.count == 2)
    }

    @Test("A page has from 1 to 100 results, as GitHub has it", arguments: [(0, 1), (-1, 1), (101, 100)])
    func pageSize(perPage: Int, asked: Int) {
        RepositorySearchController(provider: server.provider, perPage: perPage).search("swift")
        #expect(server.queries == ["q=swift&page=1&per_page=\(asked)"])
    }

    @Test("An error keeps what was there, and the next try takes it away")
    func error() async {
        let controller = controller()
        controller.search("swift")
        await answer(0, ["a", "b"], of: 4)
        controller.loadNextPage()
        await fail(1)
        #expect(controller.state.names == ["a", "b"])
        #expect(controller.state.error is TestError)
        #expect(!controller.state.isLoading)
        controller.loadNextPage()
        #expect(controller.state.error == nil)
        await answer(2, ["c", "d"], of: 4)
        #expect(controller.state.names == ["a", "b", "c", "d"])
        #expect(server.queries[2] == server.queries[1])
    }

    @Test("When a new search fails, the next page is still that of what is shown")
    func errorOfNewSearch() async {
        let controller = controller()
        controller.search("swift")
        await answer(0, ["a", "b"], of: 4)
        controller.search("kotlin")
        await fail(1)
        #expect(controller.state.names == ["a", "b"])
        #expect(controller.state.keyword == "swift")
        controller.loadNextPage()
        #expect(server.queries.last == "q=swift&page=2&per_page=2")
    }

    @Test("Blank text clears all and cancels what is in flight", arguments: ["", " \n\t"])
    func blank(text: String) async {
        let controller = controller()
        controller.search("swift")
        await answer(0, ["a", "b"], of: 4)
        controller.loadNextPage()
        controller.search(text)
        #expect(server.cancelled == [1])
        await answer(1, ["stale"])
        #expect(controller.state.names.isEmpty)
        #expect(controller.state.keyword.isEmpty)
        #expect(controller.state.totalCount == 0)
        #expect(!controller.state.isLoading)
        #expect(!controller.state.hasNextPage)
        #expect(server.queries.count == 2)
    }

    @Test("Letting it go cancels what is in flight, and nothing happens afterwards")
    func gone() async {
        var changes = 0
        weak var gone: RepositorySearchController?
        do {
            let controller = controller()
            gone = controller
            controller.onChange = { _ in changes += 1 }
            controller.search("swift")
        }
        #expect(gone == nil)
        #expect(server.cancelled == [0])
        await answer(0, ["late"])
        #expect(changes == 1)
    }

    @Test("A provider that answers at once is shown in the same order")
    func synchronous() async {
        let controller = RepositorySearchController(provider: SearchServer.answering(["a"], of: 60))
        var shown: [[String]] = []
        controller.onChange = { shown.append([$0.keyword, "\($0.isLoading)"] + $0.names) }
        controller.search("swift")
        await mainQueue()
        controller.loadNextPage()
        await mainQueue()
        #expect(shown == [["", "true"], ["swift", "false", "a"], ["swift", "true", "a"], ["swift", "false", "a"]])
    }

    @Test("A search from within onChange is the one that counts", arguments: [true, false])
    func reentrant(isSynchronous: Bool) async {
        let controller = RepositorySearchController(provider: isSynchronous ? SearchServer.answering(["a"], of: 1) : server.provider)
        var isFirst = true
        controller.onChange = { [unowned controller] _ in
            guard isFirst else { return }
            isFirst = false
            controller.search("second")
        }
        controller.search("first")
        await isSynchronous ? mainQueue() : answer(0, ["a"], of: 1)
        #expect(controller.state.keyword == "second")
        #expect(!controller.state.isLoading)
        #expect(isSynchronous || server.queries == ["q=second&page=1&per_page=30"])
    }

    private func answer(_ index: Int, _ names: [String], of total: Int? = nil) async {
        server.answer(index, names, of: total)
        await mainQueue()
    }

    private func fail(_ index: Int) async {
        server.fail(index)
        await mainQueue()
    }

    /// An event comes at once on the main thread only where nothing of another test waits for it.
    private func mainQueue() async {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }

    private func controller() -> RepositorySearchController { RepositorySearchController(provider: server.provider, perPage: 2) }
}

extension RepositorySearchController.State {
    fileprivate var names: [String] { repositories.map(\.name) }
}

/// Answers when the test says so.
private final class SearchServer: Sendable {
    private let requests = Log<(PreparedRequest, Single<APIResponse>.SingleObserver)>()
    private let disposals = Log<Int>()
    /// Those that the test has answered.
    private let answered = Log<Int>()

    var provider: any APIProvider {
        DefaultAPIProvider(
            baseURL: GitHub.apiURL,
            transport: ClosureTransport { request in
                .create { observer in
                    let index = self.requests.count
                    self.requests.append((request, observer))
                    return Disposables.create { if !self.answered.entries.contains(index) { self.disposals.append(index) } }
                }
            })
    }

    var queries: [String] { requests.entries.map { $0.0.url.query ?? "" } }
    /// The requests that were cancelled before they were answered.
    var cancelled: [Int] { disposals.entries }

    func answer(_ index: Int, _ names: [String], of total: Int? = nil) {
        answered.append(index)
        let (request, observer) = requests.entries[index]
        observer(.success(Self.response(to: request, names, of: total)))
    }

    func fail(_ index: Int) {
        answered.append(index)
        requests.entries[index].1(.failure(TestError()))
    }

    static func answering(_ names: [String], of total: Int) -> any APIProvider {
        DefaultAPIProvider(baseURL: GitHub.apiURL, transport: ClosureTransport { .just(response(to: $0, names, of: total)) })
    }

    private static func response(to request: PreparedRequest, _ names: [String], of total: Int?) -> APIResponse {
        let items = names.map { name in
            """
            {"id": \(name.unicodeScalars.reduce(0) { $0 * 128 + Int($1.value) }), "name": "\(name)", "full_name": "octocat/\(name)",
             "owner": null, "html_url": "https://github.com/octocat/\(name)", "stargazers_count": 1, "forks_count": 0, "fork": false,
             "archived": false}
            """
        }
        let body = #"{"total_count": \#(total ?? names.count), "incomplete_results": false, "items": [\#(items.joined(separator: ","))]}"#
        return APIResponse(to: request, headers: ["Link": nextPage(after: request, of: total ?? names.count)], data: Data(body.utf8))
    }

    /// The header that points to the next page, as GitHub sends it.
    private static func nextPage(after request: PreparedRequest, of total: Int) -> String? {
        guard var components = URLComponents(url: request.url, resolvingAgainstBaseURL: true) else { return nil }
        var query = QueryParameters(components.queryItems ?? [])
        let (page, perPage) = (Int("\(query["page"] ?? "")") ?? 1, Int("\(query["per_page"] ?? "")") ?? 30)
        guard page * perPage < total else { return nil }
        query["page"] = page + 1
        components.queryItems = Array(query)
        return components.url.map { "<\($0)>; rel=\"next\"" }
    }
}
