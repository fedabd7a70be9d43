import APIProvider
@_spi(Serving) import APIProviderMocks
@_spi(Transports) import APIProviderTransport
import Foundation
import MiniRx

/// Answers the requests of a server from a scope of the mock.
struct MockHandler: Sendable {
    let origin: Origin
    let mock: MockURLProtocol.Type
    let rules: AccessRules
    let options: MockServer.Options
    let control: Control

    /// They are about the connection, and not about the message.
    private static let fieldsOfConnection: Set = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// - Parameter readBody: Reads the body; `nil` if it is too large.
    /// - Returns: `nil` if the connection ends without an answer.
    func response(to request: ServerRequest, readBody: () async throws -> Data?) async -> ServerResponse? {
        if let refusal = rules.refusal(of: request) { return .text(refusal.status, refusal.reason) }
        guard var response = await permittedResponse(to: request, readBody) else { return nil }
        rules.allowReading(&response, by: request)
        return response
    }

    private func permittedResponse(to request: ServerRequest, _ readBody: () async throws -> Data?) async -> ServerResponse? {
        do {
            guard let body = try await readBody() else { return .text(413, "The body has more than 64 MB.") }
            if request.isControl { return await control.response(to: request, body) }
            if let preflight = rules.preflightResponse(to: request) { return preflight }
            return await answer(to: request, body)
        } catch {
            return .text(400, "The body cannot be read (\(error)).")
        }
    }

    // MARK: - To the mock

    private func answer(to request: ServerRequest, _ body: Data) async -> ServerResponse? {
        // Browsers and Node send some characters raw, such as brackets.
        guard let url = URL(string: (origin.text + request.target).escapedAsURL) else { return .text(400, "The target is no URL.") }
        do {
            var sent = try Endpoint<ByteStream>(Method(rawValue: request.method), .url(url)).preparedRequest()
            let fields = request.headers.filter { !Self.fieldsOfConnection.contains($0.name.lowercased()) }
            sent.headers = Fields(fields.map { (key: $0.name, value: $0.value) })
            sent.body = body.isEmpty ? nil : RequestBody(body)
            sent.timeoutInterval = 1e9
            sent.options.redirectPolicy = .never
            // Each has its own cookies, as clients do.
            let received = try await MockTransport().send(sent).value
            return try await response(with: received, to: request)
        } catch {
            return response(with: error, to: request)
        }
    }

    private func response(with error: any Error, to request: ServerRequest) -> ServerResponse? {
        if let report = mock.report(of: error) { return .text(501, control.text(report, for: request)) }
        if case APIError.invalidRequest(let reason, _) = error { return .text(400, "The request is invalid: \(reason)") }
        if let reportMissingAnswer = options.reportMissingAnswer, !((error as? APIError)?.underlying is ConnectionEnd) {
            reportMissingAnswer("\(error)")
            return .text(502, "The server that is recorded gave no answer, so this request will not be in the file. \(error)")
        }
        // The stub is the failure of a connection.
        return nil
    }

    // MARK: - To the client

    private func response(with received: APIResponse, to request: ServerRequest) async throws -> ServerResponse {
        let status = received.statusCode
        guard 200...599 ~= status else { return .text(500, "The stub has the status \(status), which ends no response.") }
        let local = request.headers["Host"] ?? "localhost"
        var response = ServerResponse(status: status)
        for (name, value) in received.headers {
            let key = name.lowercased()
            guard !Self.fieldsOfConnection.contains(key), !key.hasPrefix("access-control-") else { continue }
            guard (try? Fields.check(name, value)) != nil else {
                return .text(500, "The header \(name) of the stub has a character that HTTP does not allow.")
            }
            switch key {
            case "location", "link": response.headers.append((name, origin.replaced(by: local, inLinks: value)))
            case "set-cookie": response.headers += received.headers.setCookieFields.map { (name, origin.localized(cookie: $0)) }
            default: response.headers.append((name, value))
            }
        }
        let bytes = ByteStream(received)
        let length = received.headers["Content-Length"].flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 }
        response.body = .stream(bytes, length: length)
        let type = received.headers["Content-Type"]?.lowercased() ?? ""
        let isText = type.hasPrefix("text/") && !type.hasPrefix("text/event-stream") || type.contains("json") || type.contains("xml")
        // A body that is not sent has its own length.
        guard options.replacesOrigin, isText, request.method != "HEAD", ![204, 304].contains(status) else { return response }
        var body = Data()
        for try await chunk in bytes { body += chunk }
        if let text = String(data: body, encoding: .utf8) {
            // Foundation leaves out a byte order mark.
            body = body.prefix(body.count - text.utf8.count) + origin.replaced(by: local, in: text).utf8
        }
        response.body = .data(body)
        return response
    }
}

/// The failure of a stub that ends the connection.
struct ConnectionEnd: Error {}
