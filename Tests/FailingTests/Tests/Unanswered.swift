import APIProvider
import APIProviderMocks
import Foundation
import Testing

/// A request whose report gives a stub to paste.
struct Unanswered: Sendable {
    let name: String
    let request: Endpoint<Data>
    /// The stubs that do not answer it.
    var stubs: @Sendable () -> Void = {}

    /// Sends the request in a scope with these stubs, and then those of `pasted`.
    func send(pasted: @Sendable () -> Void = {}) async throws {
        try await MockURLProtocol.withScope(name) {
            stubs()
            pasted()
            let provider = DefaultAPIProvider(baseURL: URL(string: "https://api.example.com"), transport: MockTransport())
            _ = try await provider.request(request).value
        }
    }

    /// One for each kind of request, and for each reason why a stub has not answered.
    static let all: [Unanswered] = [
        .init(name: "a path", request: Endpoint(.get, "/plain")),
        .init(name: "a path with escapes", request: Endpoint(.post, "/a b/ü*\"\\(x)")),
        .init(name: "a path with a secret", request: Endpoint(.delete, "/reset/\(secret: "s3cr3t-1")/x")),
        .init(name: "two slashes", request: Endpoint(.get, .url(twoSlashes))),
        .init(name: "JSON", request: Endpoint("PROPFIND", "", headers: ["Accept": "application/json"])),
        .init(
            name: "a query",
            request: Endpoint(
                .get, "/q", query: ["q": "\"a\"\n\\(b)\u{0}\u{301}", "label": ["x", "y"], "empty": "", "é\"": "k", "token": "s3cret"])),
        .init(name: "events", request: Endpoint(.get, "/events", headers: ["Accept": "text/event-stream"])),
        .init(name: "lines of JSON", request: Endpoint(.get, "/rows", headers: ["Accept": "application/x-ndjson"])),
        .init(
            name: "an operation of GraphQL",
            request: Endpoint(.post, "/graphql", body: .json(["operationName": "Me", "query": "query Me { me { id } }"]))),
        .init(
            name: "an operation of GraphQL without a name",
            request: Endpoint(.post, "/graphql", body: .json(["query": "query {\n  user(name: \"octocat\") { id }\n}"]))),
        .init(
            name: "an operation of GraphQL with a secret",
            request: Endpoint(.post, "/graphql", body: .json(["query": "mutation { login(password: \"s3cret\") { id } }"]))),
        .init(name: "a multipart body", request: Endpoint(.post, "/notes", body: .multipart([MultipartPart(name: "a", value: "b")]))),
        .init(
            name: "a stub that is used up", request: Endpoint(.get, "/used"),
            stubs: { MockURLProtocol.stub(.get, "/used", times: 0, respond: .status(200)) }),
        .init(
            name: "a stub that differs", request: Endpoint(.post, "/differs", body: .form(["a": 1])),
            stubs: { MockURLProtocol.stub(.post, "/differs", body: .form(["a": 2]), respond: .status(200)) }),
        .init(
            name: "a stub that can match nothing", request: Endpoint(.get, "/nothing"),
            stubs: { MockURLProtocol.stub(.get, "nothing", respond: .status(200)) }),
    ]
}

private let twoSlashes = URL(string: "https://api.example.com//user") ?? URL(fileURLWithPath: "/")

/// Prints stubs to paste, which `run` compiles and runs.
@Suite struct Pasting {
    @Test(arguments: Unanswered.all.indices) func prints(index: Int) async {
        do {
            try await Unanswered.all[index].send()
        } catch {
            print("to paste for \(index)\n\(error)")
        }
    }
}
