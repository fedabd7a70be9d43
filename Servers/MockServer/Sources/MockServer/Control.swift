import APIProvider
@_spi(Serving) import APIProviderMocks
@_spi(Transports) import APIProviderTransport
import Foundation

/// Answers the requests to `/__mock`, by which programs in other languages add stubs and see requests. ``OpenAPI`` describes them.
actor Control {
    static let maximumStubCount = 10_000
    private static let maximumShownBodySize = 64 << 10

    private let mock: MockURLProtocol.Type
    private let options: MockServer.Options
    private let setUp: @Sendable (MockURLProtocol.Type) throws -> Void
    private var stubs: [(id: Int, stub: Stub)] = []
    private var lastID = 0

    /// - Throws: The error of `setUp`, or a sentence about a stub of the options.
    init(mock: MockURLProtocol.Type, _ options: MockServer.Options, setUp: @escaping @Sendable (MockURLProtocol.Type) throws -> Void)
        async throws
    {
        (self.mock, self.options, self.setUp) = (mock, options, setUp)
        try start()
    }

    /// Adds the answers that the server was started with.
    private func start() throws {
        stubs = []
        try setUp(mock)
        options.fixtures?.addStub(to: mock)
        for (index, stub) in options.stubs.enumerated() {
            do { _ = try add(stub) } catch let error as ServerError { throw ServerError("stubs[\(index)]: \(error)") }
        }
    }

    func response(to request: ServerRequest, _ body: Data) async -> ServerResponse {
        let path = request.path.dropFirst("/__mock".count).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let method = request.method == "HEAD" ? "GET" : request.method
        do {
            let isList = ["requests", "unmatched"].contains(path.first)
            let parameters = try request.parameters(method == "GET" && isList ? ["path", "method"] : [])
            // Some clients send an empty object with each content type.
            if !body.isEmpty, method != "POST" { _ = try StubDescription.read(Strict<Empty>.self, body) }
            switch (method, path.first ?? "", path.count) {
            case ("DELETE", "", 0...1):
                guard options.reportMissingAnswer == nil else {
                    return json(["error": "The server is recording. Only its end writes what was recorded."], status: 409)
                }
                mock.reset()
                try start()
            case ("GET", "health", 1): return json(["status": "ok"])
            case ("GET", "openapi.json", 1): return .text(200, OpenAPI.document, type: "application/json")
            case ("GET", "requests", 1): return try await list(mock.requests, parameters)
            case ("GET", "unmatched", 1): return try await list(mock.unmatchedRequests, parameters)
            case ("DELETE", "requests", 1): mock.forgetRequests()
            case ("GET", "verify", 1): try mock.verify()
            case ("GET", "stubs", 1):
                let shown = zip(stubs, mock.useCounts(of: stubs.map(\.stub))).map { item, count -> JSON in
                    ["id": JSON(item.id), "stub": JSON("\(item.stub)"), "uses": JSON(count)]
                }
                return json(["stubs": JSON(shown)])
            case ("POST", "stubs", 1):
                let id = try add(StubDescription.read(Strict<StubDescription>.self, body).value)
                return json(["id": JSON(id)], status: 201)
            case ("DELETE", "stubs", 2):
                guard let index = stubs.firstIndex(where: { "\($0.id)" == path.last ?? "" }) else {
                    return json(["error": "There is no such stub."], status: 404)
                }
                mock.remove(stubs.remove(at: index).stub)
            case (_, "health", 1), (_, "openapi.json", 1), (_, "requests", 1), (_, "unmatched", 1), (_, "verify", 1), (_, "stubs", 1...2),
                (_, "", 0...1):
                return json(["error": "\(request.method) is no method of this path."], status: 405)
            default: return json(["error": "There is no such path. See /__mock/openapi.json."], status: 404)
            }
            return json(["status": "ok"])
        } catch let error as ServerError {
            return json(["error": JSON(error.description)], status: 400)
        } catch {
            return .text(409, text("\(error)", for: request))
        }
    }

    /// A report, and what a client in any language can do.
    nonisolated func text(_ report: String, for request: ServerRequest) -> String {
        "\(options.isForSwift ? report : report.withoutSwift)\n\nIn another language, send a stub with POST /__mock/stubs to "
            + "http://\(request.headers["Host"] ?? ""). GET /__mock/openapi.json describes it."
    }

    private nonisolated func json(_ value: JSON, status: Int = 200) -> ServerResponse {
        .text(status, "\(value)", type: "application/json")
    }

    // MARK: - Stubs

    private func add(_ description: StubDescription) throws -> Int {
        guard stubs.count < Self.maximumStubCount else { throw ServerError("There are \(stubs.count) stubs, and may be no more.") }
        let stub = try description.add(to: mock, id: lastID + 1, options.fixtures)
        lastID += 1
        stubs.append((lastID, stub))
        return lastID
    }

    // MARK: - Requests

    /// The requests without secrets, the oldest first: those with the `path` and the `method` in the query. Others need not wait for it.
    private nonisolated func list(_ requests: [ReceivedRequest], _ parameters: [String: [String]]) async throws -> ServerResponse {
        let paths = parameters["path"], method = try parameters["method"].map { try Method(checking: $0[0]) }
        guard paths?[0].utf8.starts(with: "/".utf8) != false else { throw ServerError("The \"path\" does not begin with a slash.") }
        let found = requests.filter { request in
            paths?.contains { $0.utf8.elementsEqual(request.path.utf8) } != false && request.method == method ?? request.method
        }
        let shown = found.map { request -> JSON in
            let (url, headers, body) = request.redacted(maximumBodySize: Self.maximumShownBodySize)
            var members: [String: JSON] = [
                "method": JSON(request.method.rawValue), "path": JSON(URLComponents(string: url)?.path ?? url), "url": JSON(url),
                "headers": JSON(Dictionary(headers.map { ($0.name, JSON($0.value)) }) { first, _ in first }),
                "bodySize": JSON(request.body.count),
            ]
            members["body"] = body.map { JSON($0) }
            return JSON(members)
        }
        return json(["requests": JSON(shown), "removed": JSON(mock.removedRequestCount)])
    }
}

extension ServerRequest {
    /// The query's parameters, each with one value: with `+` as a plus sign, and with `+` as a space.
    ///
    /// - Throws: A sentence about a parameter that is not known, or there twice. The answer would be that to another question.
    fileprivate func parameters(_ known: Set<String>) throws -> [String: [String]] {
        var parameters: [String: [String]] = [:]
        for item in URLComponents(string: target.escapedAsURL)?.percentEncodedQueryItems ?? [] {
            let (name, value) = (item.name.removingPercentEncoding ?? item.name, item.value ?? "")
            guard known.contains(name) else {
                throw ServerError("There is an unknown parameter in the query: \(name.prefix(100).debugDescription).")
            }
            let values = [value, value.replacingOccurrences(of: "+", with: " ")].map { $0.removingPercentEncoding ?? $0 }
            guard parameters.updateValue(values, forKey: name) == nil else {
                throw ServerError("The parameter \"\(name)\" is there twice.")
            }
        }
        return parameters
    }
}
