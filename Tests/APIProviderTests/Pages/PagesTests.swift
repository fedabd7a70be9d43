import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Links")
struct LinkTests {
    private func response(_ link: String?) -> APIResponse { APIResponse(to: PreparedRequest("GET"), headers: ["Link": link]) }

    @Test(
        "A link is where the header Link says (RFC 8288, section 3)",
        arguments: [
            (
                #"<https://api.example.com/x?page=2>; rel="next", <https://api.example.com/x?page=9>; rel="last""#,
                "https://api.example.com/x?page=2"
            ),
            (#"<https://api.example.com/1>; rel="prev",<https://api.example.com/3>;rel="next""#, "https://api.example.com/3"),
            ("<https://api.example.com/2>; rel=next", "https://api.example.com/2"),
            (#"<https://api.example.com/2>; title="a, b; rel=\"prev\""; rel="next""#, "https://api.example.com/2"),
            (#"<https://api.example.com/2?a=1,2;b>; rel="next""#, "https://api.example.com/2?a=1,2;b"),
            (#"<https://api.example.com/2>; rel="last NEXT""#, "https://api.example.com/2"),
            (#"<https://api.example.com/2>; REL = "next""#, "https://api.example.com/2"),
            (#"<?page=2>; rel="next""#, "https://api.example.com/items?page=2"),
            (#"</items?page=2>; rel="next""#, "https://api.example.com/items?page=2"),
            (#"<?q=☃%e2%98%83>; rel="next""#, "https://api.example.com/items?q=%E2%98%83%e2%98%83"),
            ("<>; rel=next", "https://api.example.com/items"),
            ("<https://api.example.com/2>; rel=\"last\tnext\"", "https://api.example.com/2"),
        ])
    func link(_ link: String, url: String) throws {
        #expect(try response(link).link("next")?.absoluteString == url)
    }

    @Test(
        "There is no link where none has this relation",
        arguments: [
            nil, "",
            #"<https://api.example.com/2>; rel="next"; anchor="x""#, #"<https://api.example.com/1>; rel="prev""#,
            "<https://api.example.com/1>", #"https://api.example.com/2; rel="next""#, "<https://api.example.com/2",
            #"<https://api.example.com/2>; rel="nextish""#,
            #"<https://api.example.com/2>; title="rel=next""#,
        ])
    func noLink(_ link: String?) throws {
        #expect(try response(link).link("next") == nil)
    }

    @Test(
        "A link to another origin is an error, unless that is allowed",
        arguments: ["https://evil.example/2", "http://api.example.com/2", "https://api.example.com:8443/2", "//evil.example/2"])
    func otherOrigin(target: String) throws {
        let response = response("<\(target)>; rel=\"next\"")
        let error = #expect(throws: APIError.self) { try response.link("next") }
        #expect("\(String(describing: error))".contains("the link \"next\" leads from https://api.example.com:443 to "))
        #expect(try response.link("next", allowsOtherOrigins: true) != nil)
    }
}

@Suite("Pages", tenMinutes)
struct PagesTests {
    private struct Page: Codable, Sendable, Equatable {
        let items: [Int]
        var next: Int?
    }

    /// A server with pages that know the number of the next one.
    private final class Server: Sendable {
        let seen = Log<String>()
        private let pages: [Int: Page]
        private let link: @Sendable (Int) -> String?

        init(_ pages: [Int: Page], link: @escaping @Sendable (Int) -> String? = { _ in nil }) { (self.pages, self.link) = (pages, link) }

        var provider: DefaultAPIProvider {
            DefaultAPIProvider(
                baseURL: example,
                transport: ClosureTransport { [self] request in
                    .deferred {
                        let url = request.url.absoluteString
                        self.seen.append(
                            "\(url.dropFirst(example.absoluteString.count)) \(request.headers["X-Own"] ?? "-")")
                        let number = Int(url.split(separator: "=").last ?? "") ?? 1
                        guard let page = self.pages[number] else { return .just(APIResponse(to: request, status: 404)) }
                        return .just(APIResponse(to: request, headers: ["Link": self.link(number)], data: try JSONEncoder().encode(page)))
                    }
                })
        }

        func read(next: (@Sendable (Page, APIResponse) throws -> Endpoint<Page>?)? = nil) -> Pages<Page> {
            let first = Endpoint<Page>(.get, "/items", headers: ["X-Own": "1"])
            return next.map { provider.pages(first, next: $0) } ?? provider.pages(first)
        }

        func readNumbers() -> Pages<Page> {
            read { page, _ in page.next.map { Endpoint(.get, "/items", query: ["page": $0]) } }
        }
    }

    private static let three = [1: Page(items: [1, 2], next: 2), 2: Page(items: [], next: 3), 3: Page(items: [3])]

    @Test("A page is requested when it is asked for, and the first nil is the end")
    func lazily() async throws {
        let server = Server(Self.three)
        var iterator = server.readNumbers().makeAsyncIterator()
        #expect(server.seen.entries == [])
        #expect(try await iterator.next()?.items == [1, 2])
        #expect(server.seen.entries == ["/items 1"])
        #expect(try await iterator.next()?.items == [])
        #expect(try await iterator.next()?.items == [3])
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(server.seen.entries == ["/items 1", "/items?page=2 -", "/items?page=3 -"])
    }

    @Test("Each loop begins with the first page")
    func again() async throws {
        let server = Server(Self.three)
        let pages = server.readNumbers()
        for _ in 0..<2 {
            for try await page in pages where page.next == nil { #expect(page.items == [3]) }
        }
        #expect(server.seen.count == 6)
    }

    @Test(
        "All items come in one single, of no more pages than asked for",
        arguments: [(1, [1, 2]), (2, [1, 2]), (3, [1, 2, 3]), (9, [1, 2, 3])])
    func all(maximum: Int, items: [Int]) async throws {
        let server = Server(Self.three)
        #expect(try await server.readNumbers().all(\.items, maxPages: maximum).value == items)
        #expect(server.seen.count == min(maximum, 3))
    }

    @Test("Without a closure, the link in the header leads on, with the headers of the first request")
    func links() async throws {
        let server = Server(Self.three) { $0 < 3 ? "</items?page=\($0 + 1)>; rel=\"next\"" : nil }
        #expect(try await server.read().all(\.items, maxPages: 5).value == [1, 2, 3])
        #expect(server.seen.entries == ["/items 1", "/items?page=2 1", "/items?page=3 1"])
        let evil = Server(Self.three) { _ in "<https://evil.example/>; rel=next" }
        let error = await #expect(throws: APIError.self) { try await evil.read().all(\.items, maxPages: 5).value }
        #expect("\(String(describing: error))".contains("leads from"))
        #expect(evil.seen.count == 1)
    }

    /// A server that redirects the first page to `location`, and whose other pages have the link `next`.
    private func redirectedPages(to location: String, next: String) -> (pages: Pages<String>, seen: Log<String>) {
        let seen = Log<String>()
        let transport = ClosureTransport { request in
            .followingRedirects(request) { request in
                .deferred {
                    let url = request.url.absoluteString
                    seen.append("\(url) \(request.headers["Authorization"] ?? "-")")
                    let isFirst = url == "https://api.example.com/list"
                    return .just(
                        APIResponse(
                            to: request, status: isFirst ? 302 : 200,
                            headers: isFirst ? ["Location": location] : ["Link": "<\(next)>; rel=next"]))
                }
            }
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport)
        return (provider.pages(Endpoint<String>(.get, "/list", headers: .authorization(bearerToken: "s3cret"))), seen)
    }

    @Test(
        "What the first page is sent with goes to no origin that a redirect has led to",
        arguments: ["/page2", "https://other.example.com/page2", "https://api.example.com/page2"])
    func redirected(next: String) async throws {
        let (pages, seen) = redirectedPages(to: "https://other.example.com/page1", next: next)
        var iterator = pages.makeAsyncIterator()
        #expect(try await iterator.next() == "")
        let error = await #expect(throws: APIError.self) { _ = try await iterator.next() }
        #expect(error?.description.contains("other origin") == true, "\(String(describing: error))")
        #expect(seen.entries == ["https://api.example.com/list Bearer s3cret", "https://other.example.com/page1 -"])
    }

    @Test("A list goes on where a redirect within its origin has led")
    func redirectedWithin() async throws {
        let (pages, seen) = redirectedPages(to: "/page1", next: "/page2")
        #expect(try await pages.all({ [$0] }, maxPages: 2).value == ["", ""])
        #expect(seen.entries.last == "https://api.example.com/page2 Bearer s3cret")
    }

    @Test("A page whose URL has another fragment is the same page")
    func fragments() async throws {
        let count = Locked(0)
        let provider = DefaultAPIProvider(
            baseURL: example,
            transport: ClosureTransport { request in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return .just(APIResponse(to: request, headers: ["Link": "</items#\(number)>; rel=next"]))
            })
        let pages = provider.pages(Endpoint<String>(.get, .url(try #require(URL(string: "https://api.example.com/items")))))
        let error = await #expect(throws: APIError.self) { try await pages.all({ [$0] }, maxPages: 5).value }
        #expect(error?.description.contains("has been requested before") == true)
        #expect(count.withLock { $0 } == 1)
    }

    @Test("A page that would come twice ends the list with an error, and is not requested")
    func twice() async throws {
        let server = Server([1: Page(items: [1], next: 2), 2: Page(items: [2], next: 3), 3: Page(items: [3], next: 2)])
        var items: [Int] = []
        let error = await #expect(throws: APIError.self) {
            for try await page in server.readNumbers() { items += page.items }
        }
        #expect(items == [1, 2, 3])
        #expect(server.seen.count == 3)
        #expect(
            error?.description
                == "The request was not sent: the page GET /items has been requested before, so the list would have no end; return nil after the last page."
        )
    }

    @Test("A number of pages below 1 is an error that says so", arguments: [0, -1])
    func noPages(maximum: Int) async {
        let server = Server(Self.three)
        let error = await #expect(throws: APIError.self) { try await server.readNumbers().all(\.items, maxPages: maximum).value }
        #expect(error?.description == "The request was not sent: maxPages is \(maximum); it must be 1 or more.")
        #expect(server.seen.entries == [])
    }

    @Test("An error of the closure or of a page comes after the pages before it, and ends the list")
    func errors() async throws {
        let server = Server([1: Page(items: [1], next: 7)])
        var iterator = server.readNumbers().makeAsyncIterator()
        #expect(try await iterator.next()?.items == [1])
        await #expect(throws: APIError.self) { _ = try await iterator.next() }
        #expect(try await iterator.next() == nil)
        var other = server.read { _, _ in throw TestError("next") }.makeAsyncIterator()
        #expect(try await other.next()?.items == [1])
        await #expect(throws: TestError.self) { _ = try await other.next() }
        #expect(try await other.next() == nil)
        await #expect(throws: TestError.self) {
            try await server.readNumbers().all({ _ -> [Int] in throw TestError("items") }, maxPages: 3).value
        }
    }

    @Test("A list belongs to the user who was signed in when it began")
    func anotherUser() async throws {
        let (authentication, sent) = (AuthenticationMiddleware(token: "alice") { _ in .error(TestError("refresh")) }, Log<String>())
        let transport = ClosureTransport { request in
            sent.append(request.headers["Authorization"] ?? "none")
            return .just(APIResponse(to: request))
        }
        let pages = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [authentication])
            .pages(Endpoint<Data>(.get, "/items")) { _, _ in Endpoint(.get, "/items", query: ["page": sent.count + 1]) }
        var iterator = pages.makeAsyncIterator()
        for _ in 0..<2 { _ = try await iterator.next() }
        authentication.credential = nil
        authentication.credential = "bob"
        let error = await #expect(throws: APIError.self) { _ = try await iterator.next() }
        #expect(error?.description == "The request was not sent: its user has signed out.")
        #expect(sent.entries == ["Bearer alice", "Bearer alice"])

        var next = pages.makeAsyncIterator()
        _ = try await next.next()
        #expect(sent.entries.last == "Bearer bob")
    }

    @Test("A dispose cancels the request of the page")
    func dispose() async {
        let (started, ended) = (Signals<Void>(), Signals<Void>())
        let transport = ClosureTransport { _ in
            .create { _ in
                started.send(())
                return Disposables.create { ended.send(()) }
            }
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport)
        let subscription = provider.pages(Endpoint<Page>(.get, "/items")).all(\.items, maxPages: 2).subscribe { _ in
            Issue.record("An event came.")
        }
        await started.next()
        subscription.dispose()
        await ended.next()
    }
}
