import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Links")
struct LinkTests {
    private static let two = "https://api.example.com/2"

    @Test(
        "A link is where the header Link says (RFC 8288, section 3)",
        arguments: [
            (#"<https://api.example.com/2>; rel="next", <https://api.example.com/x?page=9>; rel="last""#, two),
            (#"<https://api.example.com/1>; rel="prev",<https://api.example.com/2>;rel="next""#, two),
            ("<https://api.example.com/2>; rel=next", two), (#"<https://api.example.com/2>; REL = "next""#, two),
            (#"<https://api.example.com/2>; title="a, b; rel=\"prev\""; rel="next""#, two),
            (#"<https://api.example.com/2?a=1,2;b>; rel="next""#, "https://api.example.com/2?a=1,2;b"),
            (#"<https://api.example.com/2>; rel="last NEXT""#, two), ("<https://api.example.com/2>; rel=\"last\tnext\"", two),
            (#"<?page=2>; rel="next""#, "https://api.example.com/items?page=2"), ("</2>; rel=next", two),
            ("<https://api.example.com/2>; rel='next'", two), ("<https://api.example.com/2>; rel='last Next'; title=x", two),
            ("<//api.example.com/2>; rel=next", two), ("<//api.example.com:443/é>; rel=next", "https://api.example.com:443/%C3%A9"),
            ("</a//b>; rel=next", "https://api.example.com/a//b"), ("<a//b?c//d>; rel=next", "https://api.example.com/a//b?c//d"),
            ("<?a:b//c>; rel=next", "https://api.example.com/items?a:b//c"),
            ("<?q=https://x//é>; rel=next", "https://api.example.com/items?q=https://x//%C3%A9"),
            ("</é//b:c//d>; rel=next", "https://api.example.com/%C3%A9//b:c//d"),
            ("<a/b://é>; rel=next", "https://api.example.com/a/b://%C3%A9"),
            (#"<?q=☃%e2%98%83>; rel="next""#, "https://api.example.com/items?q=%E2%98%83%e2%98%83"),
            ("<>; rel=next", "https://api.example.com/items"),
            // No link has this relation.
            (nil, nil), ("", nil), (#"<https://api.example.com/2>; rel="next"; anchor="x""#, nil),
            (#"<https://api.example.com/1>; rel="prev""#, nil), ("<https://api.example.com/1>", nil),
            (#"https://api.example.com/2; rel="next""#, nil), ("<https://api.example.com/2", nil),
            (#"<https://api.example.com/2>; rel="nextish""#, nil), (#"<https://api.example.com/2>; title="rel=next""#, nil),
        ] as [(String?, String?)])
    func link(_ link: String?, url: String?) throws {
        let response = APIResponse(to: PreparedRequest("GET"), headers: ["Link": link])
        #expect(try response.link("next")?.absoluteString == url)
    }

    @Test(
        "A link to another origin is an error, unless that is allowed",
        arguments: ["https://evil.example/2", "http://api.example.com/2", "https://api.example.com:8443/2", "//evil.example/2"])
    func otherOrigin(target: String) throws {
        let response = APIResponse(to: PreparedRequest("GET"), headers: ["Link": "<\(target)>; rel=\"next\""])
        let error = #expect(throws: APIError.self) { try response.link("next") }
        #expect(error?.description.contains("the link \"next\" leads from https://api.example.com:443 to ") == true)
        #expect(try response.link("next", allowsOtherOrigins: true) != nil)
    }
}

@Suite("Pages", tenMinutes)
struct PagesTests {
    private struct Page: Codable, Sendable, Equatable {
        let items: [Int]
        var next: Int?
    }

    private let seen = Log<String>()

    private func provider(answer: @escaping @Sendable (PreparedRequest) throws -> APIResponse) -> DefaultAPIProvider {
        let transport = ClosureTransport { [seen] request in
            .followingRedirects(request) { request in
                .deferred {
                    let url = request.url.absoluteString.replacingOccurrences(of: example.absoluteString, with: "")
                    seen.append("\(url) \(request.headers["Authorization"] ?? "-")")
                    return .just(try answer(request))
                }
            }
        }
        return DefaultAPIProvider(baseURL: example, transport: transport)
    }

    /// A provider with pages that contain the number of the next one, and have the link `link`.
    private func provider(
        _ pages: [Int: Page] = [1: Page(items: [1, 2], next: 2), 2: Page(items: [], next: 3), 3: Page(items: [3])],
        link: @escaping @Sendable (Int) -> String? = { _ in nil }
    ) -> DefaultAPIProvider {
        provider(answer: { request in
            let number = Int(request.url.query?.split(separator: "=").last ?? "") ?? 1
            guard let page = pages[number] else { return APIResponse(to: request, statusCode: 404) }
            return APIResponse(to: request, headers: ["Link": link(number)], data: try JSONEncoder().encode(page))
        })
    }

    private let first = Endpoint<Page>(.get, "/items", headers: .authorization(bearerToken: "a"))

    private func numbered(_ provider: DefaultAPIProvider) -> Pages<Page> {
        provider.pages(first) { page, _ in page.next.map { Endpoint(.get, "/items", query: ["page": $0]) } }
    }

    @Test("Each page is requested when you ask for it, nil is the end, and each loop begins with the first page")
    func lazily() async throws {
        let pages = numbered(provider())
        for _ in 0..<2 {
            var iterator = pages.makeAsyncIterator()
            let count = seen.count
            #expect(try await iterator.next()?.items == [1, 2])
            #expect(seen.count == count + 1)
            #expect(try await iterator.next()?.items == [])
            #expect(try await iterator.next()?.items == [3])
            #expect(try await iterator.next() == nil)
            #expect(try await iterator.next() == nil)
        }
        #expect(seen.entries == Array(repeating: ["/items Bearer a", "/items?page=2 -", "/items?page=3 -"], count: 2).flatMap { $0 })
    }

    @Test(
        "All items come in one single, from at most the given number of pages",
        arguments: [(1, [1, 2]), (2, [1, 2]), (3, [1, 2, 3]), (9, [1, 2, 3])])
    func all(maximum: Int, items: [Int]) async throws {
        #expect(try await numbered(provider()).all(\.items, maxPages: maximum).value == items)
        #expect(seen.count == min(maximum, 3))
    }

    @Test("A number of pages below 1 is an error")
    func noPages() async {
        let error = await #expect(throws: APIError.self) { try await numbered(provider()).all(\.items, maxPages: 0).value }
        #expect(error?.description == "The request was not sent: maxPages is 0; it must be 1 or more.")
        #expect(seen.count == 0)
    }

    @Test("Without a closure, the link in the header leads on, with the headers of the first request")
    func links() async throws {
        let provider = provider(link: { $0 < 3 ? "</items?page=\($0 + 1)>; rel=\"next\"" : nil })
        #expect(try await provider.pages(first).all(\.items, maxPages: 5).value == [1, 2, 3])
        #expect(seen.entries == ["/items Bearer a", "/items?page=2 Bearer a", "/items?page=3 Bearer a"])
    }

    @Test(
        "A link to another origin, or to a page that was requested before, is an error",
        arguments: [("https://evil.example/", "leads from", 1), ("/items#2", "before", 1), ("/items?page=2", "before", 2)])
    func refusedLink(link: String, words: String, count: Int) async {
        let first = Endpoint<Page>(.get, .url(example.appendingPathComponent("items")))
        let pages = provider(link: { _ in "<\(link)>; rel=next" }).pages(first)
        let error = await #expect(throws: APIError.self) { try await pages.all(\.items, maxPages: 5).value }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        #expect(seen.count == count)
    }

    @Test("Pages that differ only in what `adapting` sets are pages of their own")
    func adapted() async throws {
        let provider = provider(answer: { request in
            let number = Int(request.headers["X-Cursor"] ?? "") ?? 1
            return APIResponse(to: request, data: try JSONEncoder().encode(Page(items: [number], next: number < 3 ? number + 1 : nil)))
        })
        let pages = provider.pages(first) { page, _ in
            page.next.map { next in Endpoint(.get, "/items").adapting { $0.headers["X-Cursor"] = "\(next)" } }
        }
        #expect(try await pages.all(\.items, maxPages: 5).value == [1, 2, 3])
    }

    @Test("`adapting` runs once for each page")
    func adaptedOnce() async throws {
        let count = Log<Int>()
        let pages = provider(link: { page in page < 3 ? "<?page=\(page + 1)>; rel=next" : nil }).pages(
            first.adapting { _ in count.append(1) })
        let all = try await pages.all(\.items, maxPages: 5).value
        #expect(count.count == seen.count && !all.isEmpty)
    }

    @Test("A page that would come twice is an error, which says what to do, also if each is adapted")
    func twice() async {
        let first = first.adapting { $0.headers["X-App"] = "a" }
        let linked = provider(link: { _ in "</items>; rel=next" }).pages(first)
        let made = provider(link: { _ in nil }).pages(first) { _, _ in first }
        let circle = numbered(provider([1: Page(items: [1], next: 2), 2: Page(items: [2], next: 3), 3: Page(items: [3], next: 2)]))
        for (pages, requests) in [(linked, 1), (made, 2), (circle, 5)] {
            let error = await #expect(throws: APIError.self) { try await pages.all(\.items, maxPages: 5).value }
            let reason = "has been requested before, so the list would have no end; return nil after the last page."
            #expect(error?.description.hasPrefix("The request was not sent: the page GET ") == true)
            #expect(error?.description.hasSuffix("/items \(reason)") == true, "\(String(describing: error))")
            #expect(seen.count == requests)
        }
    }

    @Test(
        "After a redirect to another origin, the next page is an error; after a redirect within the origin, the list goes on there",
        arguments: [
            ("https://other.example.com/1", "/2"), ("https://other.example.com/1", "https://other.example.com/2"),
            ("https://other.example.com/1", "https://api.example.com/2"), ("/1", "/2"),
        ])
    func redirected(location: String, next: String) async throws {
        let pages = provider(answer: { request in
            guard request.url.path == "/items" else { return APIResponse(to: request, headers: ["Link": "<\(next)>; rel=next"]) }
            return APIResponse(to: request, statusCode: 302, headers: ["Location": location])
        }).pages(Endpoint<String>(.get, "/items", headers: .authorization(bearerToken: "a")))
        var iterator = pages.makeAsyncIterator()
        #expect(try await iterator.next() == "")
        guard location != "/1" else {
            #expect(try await iterator.next() == "")
            #expect(seen.entries.last == "/2 Bearer a")
            return
        }
        let error = await #expect(throws: APIError.self) { _ = try await iterator.next() }
        #expect(error?.description.contains("other origin") == true, "\(String(describing: error))")
        #expect(seen.entries == ["/items Bearer a", "https://other.example.com/1 -"])
    }

    @Test("An error of a page or of a closure comes after the pages before it, and ends the list")
    func errors() async throws {
        let provider = provider([1: Page(items: [1], next: 7)])
        let failing = provider.pages(first) { _, _ in throw TestError("next") }
        for (pages, isPage) in [(numbered(provider), true), (failing, false)] {
            var iterator = pages.makeAsyncIterator()
            #expect(try await iterator.next()?.items == [1])
            let error = await #expect(throws: (any Error).self) { _ = try await iterator.next() }
            #expect((error is APIError) == isPage)
            #expect(try await iterator.next() == nil)
        }
        await #expect(throws: TestError("items")) {
            try await numbered(provider).all({ _ -> [Int] in throw TestError("items") }, maxPages: 3).value
        }
    }

    @Test("A list belongs to the user who was signed in when it began")
    func anotherUser() async throws {
        let (authentication, answers) = (AuthenticationMiddleware(token: "alice") { _ in .never() }, Answers(.status(200)))
        let pages = answers.provider(authentication).pages(Endpoint<Data>(.get, "/items")) { _, _ in
            Endpoint(.get, "/items", query: ["page": answers.requests.count])
        }
        var iterator = pages.makeAsyncIterator()
        _ = try await iterator.next()
        authentication.credential = nil
        authentication.credential = "bob"
        let error = await #expect(throws: APIError.self) { _ = try await iterator.next() }
        #expect(error?.description.contains("signed out") == true)
        var next = pages.makeAsyncIterator()
        _ = try await next.next()
        #expect(answers.requests.map { $0.headers["Authorization"] } == ["Bearer alice", "Bearer bob"])
    }
}
