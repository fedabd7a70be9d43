import APIProvider
@_spi(Serving) import APIProviderMocks
import FlyingFox
import Foundation

/// Answers the requests to `/__mock`, by which programs in other languages add stubs and see requests. `openapi.json` describes them.
actor Control {
    static let maximumStubCount = 10_000
    private static let maximumShownBodySize = 64 << 10

    private let mock: MockURLProtocol.Type
    private let fixtures: FixtureFolder?
    private let setUp: @Sendable (MockURLProtocol.Type) throws -> Void
    private var stubs: [(id: Int, stub: Stub)] = []
    private var lastID = 0

    init(mock: MockURLProtocol.Type, fixtures: FixtureFolder?, setUp: @escaping @Sendable (MockURLProtocol.Type) throws -> Void) {
        (self.mock, self.fixtures, self.setUp) = (mock, fixtures, setUp)
    }

    func response(to request: FlyingFox.HTTPRequest, _ body: Data) -> FlyingFox.HTTPResponse {
        let path = request.target.path().dropFirst("/__mock".count).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let method = request.method == .HEAD ? .GET : request.method
        do {
            switch (method, path.first ?? "", path.count) {
            case (.DELETE, "", 0...1):
                mock.reset()
                stubs = []
                try setUp(mock)
            case (.GET, "health", 1): return try json(["status": "ok"])
            case (.GET, "openapi.json", 1): return json(Data(PackageResources.openapi_json))
            case (.GET, "requests", 1): return try list(mock.requests, request)
            case (.GET, "unmatched", 1): return try list(mock.unmatchedRequests, request)
            case (.DELETE, "requests", 1): mock.forgetRequests()
            case (.GET, "verify", 1): try mock.verify()
            case (.GET, "stubs", 1):
                return try json([
                    "stubs": JSON(
                        stubs.map { ["id": JSON($0.id), "stub": JSON("\($0.stub)"), "uses": JSON(mock.useCount(of: $0.stub))] })
                ])
            case (.POST, "stubs", 1): return try json(["id": JSON(try add(body))], status: 201)
            case (.DELETE, "stubs", 2):
                guard let index = stubs.firstIndex(where: { "\($0.id)" == path.last ?? "" }) else {
                    return try json(["error": "There is no such stub."], status: 404)
                }
                mock.remove(stubs.remove(at: index).stub)
            case (_, "health", 1), (_, "openapi.json", 1), (_, "requests", 1), (_, "unmatched", 1), (_, "verify", 1), (_, "stubs", 1...2),
                (_, "", 0...1):
                return try json(["error": "\(request.method.rawValue) is no method of this path."], status: 405)
            default: return try json(["error": "There is no such path. See /__mock/openapi.json."], status: 404)
            }
            return try json(["status": "ok"])
        } catch let error as ServerError {
            return (try? json(["error": JSON(error.description)], status: 400)) ?? Refusal.response(400, error.description)
        } catch {
            return FlyingFox.HTTPResponse(
                statusCode: HTTPStatusCode(409, phrase: ""), headers: [.contentType: "text/plain; charset=utf-8"],
                body: Data("\(error)\n".utf8))
        }
    }

    private func json(_ value: JSON, status: Int = 200) throws -> FlyingFox.HTTPResponse {
        json(try JSONEncoder().encode(value), status: status)
    }

    private func json(_ data: Data, status: Int = 200) -> FlyingFox.HTTPResponse {
        FlyingFox.HTTPResponse(
            statusCode: HTTPStatusCode(status, phrase: ""), headers: [.contentType: "application/json"], body: data + Data("\n".utf8))
    }

    // MARK: - Stubs

    private func add(_ body: Data) throws -> Int {
        guard stubs.count < Self.maximumStubCount else { throw ServerError("There are \(stubs.count) stubs, and may be no more.") }
        let description = try StubDescription(body, fixtures)
        lastID += 1
        stubs.append((lastID, description.add(to: mock, id: lastID)))
        return lastID
    }

    // MARK: - Requests

    /// The requests without secrets, the oldest first: those of `path`, if the query has one.
    private func list(_ requests: [ReceivedRequest], _ request: FlyingFox.HTTPRequest) throws -> FlyingFox.HTTPResponse {
        let path = request.query.first { $0.name == "path" }?.value
        let shown = requests.filter { path == nil || $0.path == path }.map { request -> JSON in
            let (url, headers, body) = request.redacted(maximumBodySize: Self.maximumShownBodySize)
            var members: [String: JSON] = [
                "method": JSON(request.method.rawValue), "path": JSON(URLComponents(string: url)?.path ?? url), "url": JSON(url),
                "headers": JSON(Dictionary(headers.map { ($0.name, JSON($0.value)) }) { first, _ in first }),
                "bodySize": JSON(request.body.count),
            ]
            members["body"] = body.map { JSON($0) }
            return JSON(members)
        }
        return try json(["requests": JSON(shown), "removed": JSON(mock.removedRequestCount)])
    }
}
