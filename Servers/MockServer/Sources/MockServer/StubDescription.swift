import APIProvider
@_spi(Serving) import APIProviderMocks
package import Foundation

/// A stub as JSON describes it, for programs in other languages.
///
/// Every member may be missing, so that an unknown one is told first. JSON is there as its text, with all digits.
package struct StubDescription: Decodable, Sendable {
    private let method, path, json, jsonContaining: String?
    private let query, form: [String: OneOrMore<String>]?
    private let headers: [String: String]?
    private let times, expecting: Double?
    private let repeatLast: Bool?
    private let response: OneOrMore<Strict<AnswerDescription>>?

    /// The stubs in a file.
    ///
    /// - Throws: A sentence that names the member which is wrong.
    package static func list(_ file: URL) throws -> [StubDescription] {
        do { return try read([Strict<StubDescription>].self, Data(contentsOf: file)).map(\.value) } catch let error as ServerError {
            throw ServerError("\(file.lastPathComponent): \(error)")
        }
    }

    /// - Throws: A sentence that names the member which is wrong.
    static func read<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        let text: Data
        guard String(data: data, encoding: .utf8) != nil else { throw ServerError("The stub cannot be read. It is not UTF-8.") }
        do {
            text = try data.quotingJSON { ["json", "jsonContaining"].contains($0.last) && $0.dropLast().allSatisfy { $0 == "response" } }
        } catch { throw ServerError("The stub cannot be read. \(error)") }
        do { return try JSONDecoder().decode(type, from: text) } catch let error as DecodingError { throw ServerError(error) }
    }

    /// - Parameter id: The stub's number, which stands in reports.
    /// - Throws: A sentence that names the member which is wrong.
    func add(to mock: MockURLProtocol.Type, id: Int, _ fixtures: FixtureFolder?) throws -> Stub {
        guard let path else { throw ServerError("The stub has no \"path\".") }
        guard ["/", "http://", "https://"].contains(where: { path.lowercased().utf8.starts(with: $0.utf8) }) else {
            throw ServerError("The \"path\" of the stub does not begin with a slash.")
        }
        guard let response else { throw ServerError("The stub has no \"response\".") }
        guard !response.elements.isEmpty else { throw ServerError("The \"response\" of the stub is an empty array.") }
        let (times, expecting) = (try times?.count("\"times\" of the stub"), try expecting?.count("\"expecting\" of the stub"))
        let bodies = [
            json.map { BodyMatcher.json(text: $0) }, jsonContaining.map { .json(containingText: $0) }, form.map { .form(.init($0)) },
        ]
        guard bodies.count(where: { $0 != nil }) < 2 else {
            throw ServerError("The stub has more than one of \"json\", \"form\" and \"jsonContaining\".")
        }
        let answers = try response.elements.enumerated().map {
            try $1.value.response(response.isArray ? "response[\($0)]" : "response", fixtures)
        }
        let stub = mock.stub(
            try Method(checking: method ?? "GET"), path, query: QueryParameters(query ?? [:]),
            headers: try Fields(checking: headers, "the stub"),
            body: bodies.lazy.compactMap { $0 }.first, times: times, fileID: "/__mock/stubs", line: id,
            respond: repeatLast == true || !response.isArray ? .repeatingLast(answers) : .sequence(answers))
        return expecting.map { stub.expecting($0) } ?? stub
    }
}

extension Double {
    /// A number of requests, or a status. A decoder would not name the place of a fraction.
    fileprivate func count(_ place: String) throws -> Int {
        guard let count = Int(exactly: self), count >= 0 else {
            throw ServerError("Wrong value: \(place) must be a whole number of at least 0.")
        }
        return count
    }
}

/// An answer of a stub.
struct AnswerDescription: Decodable, Sendable {
    /// A text, or an object.
    private struct Event: Decodable, Sendable {
        struct Members: Decodable {
            let data, type, id: String?
        }

        let event: ServerSentEvent

        init(from decoder: any Decoder) throws {
            if let text = try? String(from: decoder) {
                event = ServerSentEvent(data: text)
            } else {
                let members = try Strict<Members>(from: decoder).value
                event = ServerSentEvent(type: members.type ?? "message", data: members.data ?? "", lastEventID: members.id ?? "")
            }
        }
    }

    private let status: Double?
    private let headers: [String: String]?
    private let json, text, base64, fixture, fault: String?
    private let events: [Event]?
    private let delay: Double?

    fileprivate func response(_ name: String, _ fixtures: FixtureFolder?) throws -> StubResponse {
        let status = try status?.count("\"status\" of \(name)") ?? 200
        guard 200...599 ~= status else { throw ServerError("The \"status\" of \(name) is \(status), and must be 200 to 599.") }
        guard fault == nil || fault == "close" else { throw ServerError("The \"fault\" of \(name) can only be \"close\".") }
        guard 0...300 ~= delay ?? 0 else { throw ServerError("The \"delay\" of \(name) must be 0 to 300 seconds.") }
        let delay = DispatchTimeInterval.nanoseconds(Int((delay ?? 0) * 1e9))
        guard ([json, text, base64, fixture, fault].count { $0 != nil }) + (events == nil ? 0 : 1) < 2 else {
            throw ServerError("\(name) has more than one body or fault.")
        }
        let headers = try Fields(checking: headers, name)
        var response = StubResponse.status(status, headers: headers)
        if fault != nil { response = .failure(ConnectionEnd()) }
        if let json { response = .json(text: json, statusCode: status, headers: headers) }
        if let text {
            let type = Fields(["Content-Type": "text/plain; charset=utf-8"])
            response = .data(Data(text.utf8), statusCode: status, headers: type.merging(headers))
        }
        if let base64 {
            guard let data = Data(base64Encoded: base64) else { throw ServerError("The \"base64\" of \(name) is not base64.") }
            response = .data(data, statusCode: status, headers: headers)
        }
        if let fixture {
            guard let fixtures else { throw ServerError("\"fixture\" needs a folder: start the server with one.") }
            guard let answer = try fixtures.response(fixture, status, headers) else {
                throw ServerError("There is no fixture \(fixture.debugDescription).")
            }
            response = answer
        }
        if let events {
            guard status == 200 else { throw ServerError("\(name) has \"events\", and so the status 200.") }
            // In the data, each line gets a field of its own.
            guard !events.contains(where: { "\($0.event.type)\($0.event.lastEventID)".contains { $0.isNewline || $0 == "\0" } }) else {
                throw ServerError("The \"type\" and the \"id\" of an event of \(name) can have no line break.")
            }
            // The delay comes before each event.
            return .events(events.map(\.event), every: delay, headers: headers)
        }
        return response.delayed(by: delay)
    }
}
