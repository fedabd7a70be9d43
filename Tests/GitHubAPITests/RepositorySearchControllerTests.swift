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
    private let controller: RepositorySearchController

    init() { controller = RepositorySearchController(provider: server.provider, perPage: 2) }

    @Test("A search shows that it loads, then what was found")
    func search() async {
        var shown: [[String]] = []
        controller.onChange = { shown.append([$0.keyword, "\($0.isLoading)"] + $0.names) }
        controller.search(" swift\n")
        await answer(0, ["a", "b"])
        #expect(shown == [["", "true"], ["swift", "false", "a", "b"]])
        #expect(server.queries == ["q=swift&page=1&per_page=2"])
        #expect(controller.state.totalCount == 2)
    }

    @Test("A new search cancels the one before, and ignores its late answer")
    func stale() async {
        controller.search("a")
        controller.search("b")
        #expect(server.cancelled == [0])
        await answer(0, ["stale"])
        #expect(controller.state.isLoading && controller.state.names.isEmpty)
        await answer(1, ["fresh"])
        #expect(controller.state.names == ["fresh"])
    }

    @Test("A new search ignores an answer that is on its way to the main thread")
    func staleOnItsWay() async {
        controller.search("a")
        // The main thread runs nothing else before the next suspension, so the answer waits.
        DispatchQueue.global().sync { server.answer(0, ["stale"]) }
        controller.search("b")
        DispatchQueue.global().sync { server.answer(1, ["fresh"]) }
        var shown: [[String]] = []
        controller.onChange = { shown.append($0.names) }
        await eventually { !controller.state.isLoading }
        #expect(shown == [["fresh"]])
    }

    @Test("The next page is appended, a repository that comes again is shown once, and no page follows the last")
    func nextPage() async {
        controller.loadNextPage()
        #expect(server.queries.isEmpty)
        controller.search("swift")
        controller.loadNextPage()
        await answer(0, ["a", "b"], hasNext: true)
        controller.loadNextPage()
        controller.loadNextPage()
        #expect(controller.state.isLoading)
        #expect(controller.state.names == ["a", "b"])
        await answer(1, ["b", "c"])
        #expect(controller.state.names == ["a", "b", "c"])
        #expect(!controller.state.hasNextPage)
        controller.loadNextPage()
        #expect(server.queries == ["q=swift&page=1&per_page=2", "q=swift&page=2&per_page=2"])
    }

    @Test("A page has from 1 to 100 results", arguments: [(0, 1), (101, 100)])
    func pageSize(perPage: Int, asked: Int) {
        RepositorySearchController(provider: server.provider, perPage: perPage).search("swift")
        #expect(server.queries == ["q=swift&page=1&per_page=\(asked)"])
    }

    @Test("An error keeps the results and their next page, and the next try removes the error")
    func error() async {
        controller.search("swift")
        await answer(0, ["a", "b"], hasNext: true)
        controller.search("kotlin")
        await fail(1)
        #expect(controller.state.keyword == "swift" && controller.state.names == ["a", "b"])
        #expect(controller.state.error is TestError && !controller.state.isLoading)
        controller.loadNextPage()
        #expect(controller.state.error == nil)
        await fail(2)
        controller.loadNextPage()
        await answer(3, ["c", "d"])
        #expect(controller.state.names == ["a", "b", "c", "d"])
        #expect(server.queries.suffix(2) == ["q=swift&page=2&per_page=2", "q=swift&page=2&per_page=2"])
    }

    @Test("Blank text clears all and cancels what is in flight")
    func blank() async {
        controller.search("swift")
        await answer(0, ["a", "b"], hasNext: true)
        controller.loadNextPage()
        controller.search(" \n\t")
        #expect(server.cancelled == [1])
        await answer(1, ["stale"])
        let state = controller.state
        #expect(state.names.isEmpty && state.keyword.isEmpty && state.totalCount == 0)
        #expect(!state.isLoading && !state.hasNextPage)
    }

    @Test("Releasing it cancels what is in flight, and nothing happens afterwards")
    func gone() async {
        var changes = 0
        do {
            let controller = RepositorySearchController(provider: server.provider)
            controller.onChange = { _ in changes += 1 }
            controller.search("swift")
        }
        #expect(server.cancelled == [0])
        await answer(0, ["late"])
        #expect(changes == 1)
    }

    @Test("A search from within onChange replaces the other")
    func reentrant() async {
        var shown: [[String]] = []
        controller.onChange = { [unowned controller] in
            shown.append([$0.keyword, "\($0.isLoading)"])
            if shown.count == 1 { controller.search("second") }
        }
        controller.search("first")
        await answer(0, ["a"])
        #expect(shown == [["", "true"], ["", "true"], ["second", "false"]])
        #expect(server.queries == ["q=second&page=1&per_page=2"])
    }

    private func answer(_ index: Int, _ names: [String], hasNext: Bool = false) async {
        server.answer(index, names, hasNext: hasNext)
        await mainQueue()
    }

    private func fail(_ index: Int) async {
        server.fail(index)
        await mainQueue()
    }

    /// An event comes at once on the main thread only if no other test has work there.
    private func mainQueue() async {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }
}

extension RepositorySearchController.State {
    fileprivate var names: [String] { repositories.map(\.name) }
}

/// Answers when the test says so.
private final class SearchServer: Sendable {
    private let requests = Log<(PreparedRequest, Single<APIResponse>.SingleObserver)>()
    private let answered = Log<Int>()
    private let disposed = Log<Int>()

    var provider: any APIProvider {
        DefaultAPIProvider(
            baseURL: GitHub.apiURL,
            transport: ClosureTransport { request in
                .create { observer in
                    let index = self.requests.count
                    self.requests.append((request, observer))
                    return Disposables.create { if !self.answered.entries.contains(index) { self.disposed.append(index) } }
                }
            })
    }

    var queries: [String] { requests.entries.map { $0.0.url.query ?? "" } }
    /// The requests that were cancelled before they were answered.
    var cancelled: [Int] { disposed.entries }

    func answer(_ index: Int, _ names: [String], hasNext: Bool = false) {
        answered.append(index)
        let (request, observer) = requests.entries[index]
        observer(.success(response(to: request, names, hasNext: hasNext)))
    }

    func fail(_ index: Int) {
        answered.append(index)
        requests.entries[index].1(.failure(TestError()))
    }

    private func response(to request: PreparedRequest, _ names: [String], hasNext: Bool) -> APIResponse {
        let items = names.map { name in
            let id = name.unicodeScalars.reduce(0) { $0 * 128 + Int($1.value) }
            return """
                {"id": \(id), "name": "\(name)", "full_name": "octocat/\(name)", "owner": null, "fork": false, "archived": false,
                 "html_url": "https://github.com/octocat/\(name)", "stargazers_count": 1, "forks_count": 0}
                """
        }
        let body = #"{"total_count": \#(names.count), "incomplete_results": false, "items": [\#(items.joined(separator: ","))]}"#
        let next = request.url.absoluteString.replacingOccurrences(of: "page=1&", with: "page=2&")
        return APIResponse(to: request, headers: ["Link": hasNext ? "<\(next)>; rel=\"next\"" : nil], data: Data(body.utf8))
    }
}
