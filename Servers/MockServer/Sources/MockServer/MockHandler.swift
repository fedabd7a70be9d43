import APIProvider
@_spi(Serving) import APIProviderMocks
@_spi(Transports) import APIProviderTransport
import FlyingFox
import Foundation
import MiniRx

/// Answers the requests of a server from a scope of the mock.
struct MockHandler: HTTPHandler {
    let origin: Origin
    let mock: MockURLProtocol.Type
    let rules: AccessRules
    let replacesOrigin: Bool
    let reportMissingAnswer: (@Sendable (String) -> Void)?
    let control: Control

    func handleRequest(_ request: FlyingFox.HTTPRequest) async throws -> FlyingFox.HTTPResponse {
        if let refusal = rules.refusal(of: request) { return Refusal.response(refusal.status, refusal.reason, to: request) }
        var response: FlyingFox.HTTPResponse
        do {
            if let body = try await request.readBody() {
                if request.isControl {
                    response = await control.response(to: request, body)
                } else if let preflight = rules.preflightResponse(to: request) {
                    response = preflight
                } else {
                    response = await answer(to: request, body)
                }
            } else {
                let rest = request.bodySequence.count == nil ? nil : request
                response = Refusal.response(413, "The body has more than 64 MB.", to: rest)
            }
        } catch {
            response = Refusal.response(400, "The body cannot be read: \(error)")
        }
        rules.allowReading(&response, by: request)
        if request.method == .HEAD, case .httpBody(let body) = response.payload {
            if response.headers[.contentLength] == nil { response.headers[.contentLength] = body.count.map { "\($0)" } }
            response.payload = .httpBody(HTTPBodySequence())
        }
        return response
    }

    // MARK: - To the mock

    private func answer(to request: FlyingFox.HTTPRequest, _ body: Data) async -> FlyingFox.HTTPResponse {
        // Browsers and Node send some characters raw, such as brackets.
        guard let url = URL(string: (origin.text + request.target.rawValue).escapedAsURL) else {
            return Refusal.response(400, "The target is no URL.")
        }
        do {
            var sent = try Endpoint<ByteStream>(Method(rawValue: request.method.rawValue), .url(url)).preparedRequest()
            sent.headers = Fields(request.headers.filter { !$0.key.belongsToConnection }.map { (key: $0.key.rawValue, value: $0.value) })
            sent.body = body.isEmpty ? nil : RequestBody(body)
            sent.timeoutInterval = 1e9
            sent.options.redirectPolicy = .never
            // Each has its own cookies, as clients do.
            let received = try await MockTransport().send(sent).value
            return try await response(with: received, to: request)
        } catch {
            return response(with: error)
        }
    }

    private func response(with error: any Error) -> FlyingFox.HTTPResponse {
        if let report = mock.report(of: error) {
            // A client in any language shows it.
            let hint = "\n\nIn another language, send a stub to POST /__mock/stubs, which GET /__mock/openapi.json describes.\n"
            return FlyingFox.HTTPResponse(
                statusCode: .notImplemented, headers: [.contentType: "text/plain; charset=utf-8"], body: Data("\(report)\(hint)".utf8))
        }
        if case APIError.invalidRequest(let reason, _) = error { return Refusal.response(400, "The request is invalid: \(reason)") }
        if let reportMissingAnswer, !((error as? APIError)?.underlying is ConnectionEnd) {
            reportMissingAnswer("\(error)")
            return Refusal.response(502, "The server that is recorded gave no answer, so this request will not be in the file. \(error)")
        }
        // The stub is the failure of a connection.
        return FlyingFox.HTTPResponse(webSocket: NoAnswer())
    }

    // MARK: - To the client

    private func response(with received: APIResponse, to request: FlyingFox.HTTPRequest) async throws -> FlyingFox.HTTPResponse {
        let status = received.statusCode
        guard 200...599 ~= status else { return Refusal.response(500, "The stub has the status \(status), which ends no response.") }
        let local = "http://\(request.headers[.host] ?? "localhost")"
        var headers = FlyingFox.HTTPHeaders()
        for (name, value) in received.headers {
            let (header, key) = (HTTPHeader(name), name.lowercased())
            guard !header.belongsToConnection, !key.hasPrefix("access-control-") else { continue }
            guard !value.unicodeScalars.contains(where: { "\r\n\0".unicodeScalars.contains($0) }) else {
                return Refusal.response(500, "The header \(name) of the stub has a line break.")
            }
            switch key {
            case "location", "link": headers.setValues([origin.replaced(by: local, in: value)], for: header)
            case "set-cookie": headers.setValues(received.headers.setCookieFields, for: header)
            default: headers.setValues([value], for: header)
            }
        }
        let (code, bytes) = (HTTPStatusCode(status, phrase: ""), ByteStream(received))
        let length = received.headers["Content-Length"].flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 }
        if request.method == .HEAD || status == 204 || status == 304 {
            headers[.contentLength] = length.map { "\($0)" }
            return FlyingFox.HTTPResponse(statusCode: code, headers: headers)
        }
        let type = received.headers["Content-Type"]?.lowercased() ?? ""
        let isText = type.hasPrefix("text/") && !type.hasPrefix("text/event-stream") || type.contains("json") || type.contains("xml")
        if replacesOrigin && isText || request.version != .http11 {
            var body = Data()
            for try await chunk in bytes { body += chunk }
            if replacesOrigin, isText, let text = String(data: body, encoding: .utf8) {
                body = Data(origin.replaced(by: local, in: text).utf8)
            }
            return FlyingFox.HTTPResponse(statusCode: code, headers: headers, body: body)
        }
        let body = AnswerBody(bytes: bytes, length: length)
        return FlyingFox.HTTPResponse(
            statusCode: code, headers: headers,
            body: length.map { HTTPBodySequence(from: body, count: $0, suggestedBufferSize: 65_536) }
                ?? HTTPBodySequence(from: body, suggestedBufferSize: 65_536))
    }
}

extension HTTPHeader {
    /// Whether it is about the connection, and not about the message.
    fileprivate var belongsToConnection: Bool { Self.ofConnection.contains(rawValue.lowercased()) }

    private static let ofConnection: Set = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
}
