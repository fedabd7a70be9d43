import Foundation
public import MiniRx

extension APIProvider {
    /// Returns a list's pages, beginning with `first`. Each page is requested when read.
    ///
    /// ```swift
    /// let pages = provider.pages(SearchRequest(keyword: "swift")) { page, response in
    ///     page.cursor.map { Endpoint(.get, "/search", query: ["after": $0]) }
    /// }
    /// for try await page in pages { show(page.items) }
    /// ```
    ///
    /// - Parameters:
    ///   - first: The request for the first page.
    ///   - next: Returns the endpoint of the page after `page`, or `nil` after the last. If the closure throws, reading throws that error
    ///     after the page. Called on any thread.
    public func pages<Page: Sendable>(
        _ first: some APIRequest<Page>,
        next: @escaping @Sendable (_ page: Page, _ response: APIResponse) throws -> Endpoint<Page>?
    ) -> Pages<Page> {
        Pages(first: { first.endpoint }, next: { page, response, _ in try next(page, response) }) { request($0.withResponse()) }
    }

    /// Returns a list's pages, following links to the next page: `Link: <https://…?page=2>; rel="next"` (RFC 8288).
    ///
    /// The next page is requested like `first`, with the link's URL. A link to another origin is an error, and so is any link after a
    /// redirect to another origin: see ``APIResponse/link(_:allowsOtherOrigins:)``.
    ///
    /// - Parameter first: The request for the first page.
    public func pages<Page: Sendable>(_ first: some APIRequest<Page>) -> Pages<Page> {
        Pages {
            first.endpoint
        } next: { _, response, endpoint in
            guard let url = try response.link("next") else { return nil }
            var next = endpoint
            (next.path, next.query) = (.url(url), [:])
            return next
        } send: {
            request($0.withResponse())
        }
    }
}

// MARK: - The sequence

/// A list's pages, each requested when read: see ``APIProvider/pages(_:next:)``.
///
/// Reading throws the error of a request, and ``APIError/invalidRequest(reason:underlying:)`` for a repeated page, and then ends.
/// Cancelling the task cancels the request. Each loop begins with the first page, and belongs to the user at that time: after a sign-out, a
/// page that needs a credential is an error.
///
/// <doc:ReadingAListPageByPage> shows a program without and with pages.
public struct Pages<Page: Sendable>: AsyncSequence, Sendable {
    let first: @Sendable () -> Endpoint<Page>
    let next: @Sendable (Page, APIResponse, Endpoint<Page>) throws -> Endpoint<Page>?
    let send: @Sendable (Endpoint<Page>) -> Single<(value: Page, response: APIResponse)>

    /// Requests one page after another, and collects their items.
    ///
    /// ```swift
    /// provider.pages(StarredRequest(login: "octocat")).all(\.self, maxPages: 10)
    /// ```
    ///
    /// The first error ends the single. Disposing cancels the request.
    ///
    /// - Parameters:
    ///   - items: Returns a page's items. If the closure throws, the single fails with that error.
    ///   - maxPages: The maximum number of requested pages, 1 or more. Later pages' items are missing.
    /// - Returns: A single that succeeds with the items in order.
    public func all<Item: Sendable>(
        _ items: @escaping @Sendable (Page) throws -> [Item], maxPages: Int
    ) -> Single<[Item]> {
        .create {
            guard maxPages > 0 else {
                throw APIError.invalid("maxPages is \(maxPages); it must be 1 or more")
            }
            var all: [Item] = []
            var iterator = makeAsyncIterator()
            for _ in 0..<maxPages {
                guard let page = try await iterator.next() else { break }
                all += try items(page)
            }
            return all
        }
    }

    /// Returns an iterator over all pages.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self) }

    /// Requests one page after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private enum Position {
            case start
            case after(Page, APIResponse, Endpoint<Page>)
            case end
        }

        private let pages: Pages
        private var position = Position.start
        private var requested: Set<String> = []
        /// The number of sign-outs at the first page's request.
        private var signOutCount: Int?

        fileprivate init(pages: Pages) { self.pages = pages }

        /// Requests and returns the next page; `nil` at the end.
        ///
        /// - Throws: The error of the request or of `next`, or ``APIError/invalidRequest(reason:underlying:)`` for a repeated page.
        public mutating func next() async throws -> Page? {
            let last = position
            position = .end
            guard var endpoint = try endpoint(after: last) else { return nil }
            signOutCount = signOutCount ?? SignOutCounter.current
            endpoint.configuration.signOutCount = signOutCount
            let (sent, name) = (Locked<String?>(nil), "\(endpoint)")
            // Compared as built by the provider, because `adapting` may set the difference between pages.
            let unrepeated = endpoint.adapting { [requested] request in
                let key = request.pageKey
                guard !requested.contains(key) else {
                    throw APIError.invalid(
                        "the page \(name) has been requested before, so the list would have no end; return nil after the last page")
                }
                sent.withLock { $0 = key }
            }
            let (page, response) = try await pages.send(unrepeated).value
            if let key = sent.withLock({ $0 }) { requested.insert(key) }
            position = .after(page, response, endpoint)
            return page
        }

        private func endpoint(after position: Position) throws -> Endpoint<Page>? {
            switch position {
            case .start: pages.first()
            case .after(let page, let response, let endpoint): try pages.next(page, response, endpoint)
            case .end: nil
            }
        }
    }
}

// MARK: - Repeated pages

extension PreparedRequest {
    /// The parts of the request that distinguish pages. Only in ASCII, equal strings have equal bytes.
    fileprivate var pageKey: String {
        let fields = headers.dictionary.sortedByName.map { "\($0.name.lowercased()): \($0.value.escapedAsValue)" }
        let body = body?.pieces.reduce(into: Data()) { if case .data(let data) = $1 { $0 += data } } ?? Data()
        return (["\(method) \(url.absoluteString)"] + fields + [body.base64EncodedString()]).joined(separator: "\n")
    }
}
