import APIProvider
@_spi(Serving) import APIProviderMocks
import Foundation

/// A stub as JSON describes it, for programs in other languages.
struct StubDescription {
    private let method: Method
    private let path: String
    private let query: QueryParameters
    private let headers: Fields
    private let body: BodyMatcher?
    private let times: Int?
    private let response: StubResponse

    /// - Throws: A sentence that names the member which is wrong.
    init(_ data: Data, _ fixtures: FixtureFolder?) throws {
        var members = try Members(data, "the stub")
        method = try members.method()
        guard let path = try members.string("path") else { throw ServerError("The stub has no \"path\".") }
        guard path.hasPrefix("/") || path.lowercased().hasPrefix("http") else {
            throw ServerError("The \"path\" of the stub does not begin with a slash.")
        }
        self.path = path
        query = try members.parameters("query") ?? [:]
        headers = try members.headers()
        let matchers = [
            try members.take("json").map { BodyMatcher.json($0) }, try members.parameters("form").map { BodyMatcher.form($0) },
            try members.take("jsonContaining").map { BodyMatcher.json(containing: $0) },
        ].compactMap { $0 }
        guard matchers.count < 2 else { throw ServerError("The stub has more than one of \"json\", \"form\" and \"jsonContaining\".") }
        body = matchers.first
        times = try members.count("times")
        switch try members.take("response") {
        case nil: throw ServerError("The stub has no \"response\".")
        case let value? where value.array != nil:
            let values = value.array ?? []
            guard !values.isEmpty else { throw ServerError("The \"response\" of the stub is an empty array.") }
            response = .sequence(try values.enumerated().map { try .init($1, "response[\($0)]", fixtures) })
        case let value?: response = try .init(value, "response", fixtures)
        }
        try members.finish()
    }

    func add(to mock: MockURLProtocol.Type, id: Int) -> Stub {
        mock.stub(
            method, path, query: query, headers: headers, body: body, times: times, fileID: "/__mock/stubs", line: id, respond: response)
    }
}

extension StubResponse {
    fileprivate init(_ value: JSON, _ name: String, _ fixtures: FixtureFolder?) throws {
        var members = try Members(value, name)
        let status = try members.count("status") ?? 200
        guard 200...599 ~= status else { throw ServerError("The \"status\" of \(name) is \(status), and must be 200 to 599.") }
        let headers = try members.headers()
        let fault = try members.string("fault")
        guard fault == nil || fault == "close" else { throw ServerError("The \"fault\" of \(name) can only be \"close\".") }
        var bodies: [StubResponse] = []
        if fault != nil { bodies.append(.failure(ConnectionEnd())) }
        if let value = try members.take("json") { bodies.append(.json(value, statusCode: status, headers: headers)) }
        if let text = try members.string("text") {
            let headers = Fields(["Content-Type": "text/plain; charset=utf-8"]).merging(headers)
            bodies.append(.data(Data(text.utf8), statusCode: status, headers: headers))
        }
        if let text = try members.string("base64") {
            guard let data = Data(base64Encoded: text) else { throw ServerError("The \"base64\" of \(name) is not base64.") }
            bodies.append(.data(data, statusCode: status, headers: headers))
        }
        if let path = try members.string("fixture") {
            guard let fixtures else { throw ServerError("\"fixture\" needs a folder: start the server with one.") }
            guard let data = try fixtures.content(of: path) else { throw ServerError("There is no fixture \(path.debugDescription).") }
            let headers = path.hasSuffix(".json") ? Fields(["Content-Type": "application/json"]).merging(headers) : headers
            bodies.append(.data(data, statusCode: status, headers: headers))
        }
        let seconds = try members.seconds("delay")
        if let events = try members.take("events") {
            guard status == 200 else { throw ServerError("\(name) has \"events\", and so the status 200.") }
            // The delay comes before each event.
            bodies.append(.events(try Self.events(events, name), every: seconds ?? .seconds(0), headers: headers))
        }
        guard bodies.count < 2 else { throw ServerError("\(name) has more than one body or fault.") }
        self = bodies.first ?? .status(status, headers: headers)
        if let seconds, bodies.isEmpty || value.object?["events"] == nil { self = delayed(by: seconds) }
        try members.finish()
    }

    /// Texts, or objects with `data`, `type` and `id`.
    private static func events(_ value: JSON, _ name: String) throws -> [ServerSentEvent] {
        guard let values = value.array else { throw ServerError("The \"events\" of \(name) are no array.") }
        return try values.enumerated().map { index, value in
            if let text = value.string { return ServerSentEvent(data: text) }
            var members = try Members(value, "\(name).events[\(index)]")
            let event = ServerSentEvent(
                type: try members.string("type") ?? "message", data: try members.string("data") ?? "",
                lastEventID: try members.string("id") ?? "")
            try members.finish()
            return event
        }
    }
}
