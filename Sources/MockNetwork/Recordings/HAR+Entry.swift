import APIProvider
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HAR.Entry {
    /// - Parameters:
    ///   - request: The request.
    ///   - result: Its response or error.
    ///   - started: The time at which it was sent.
    ///   - milliseconds: The time that it took.
    ///   - names: The names whose values stay, in lower case. `nil` keeps everything.
    init(
        _ request: PreparedRequest, _ result: Result<APIResponse, any Error>, started: Date, milliseconds: Double,
        keeping names: Set<String>? = []
    ) {
        let response = try? result.get()
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        startedDateTime = formatter.string(from: started)
        time = milliseconds
        timings = HAR.Timings(wait: milliseconds)
        self.request = HAR.Request(request, RecordingRedactor(keeping: names, for: request))
        switch result {
        case .success(let response): self.response = HAR.Response(response, RecordingRedactor(keeping: names, for: response.request))
        case .failure(let error): self.response = HAR.Response(error)
        }
        comment = response?.isWithoutItsBody == true ? "No body arrived here; a download, for example, writes it to a file." : nil
    }
}

extension HAR.Request {
    fileprivate init(_ request: PreparedRequest, _ redactor: RecordingRedactor) {
        method = request.method.rawValue
        // The format leaves fragments out.
        url = redactor.url(String(request.url.absoluteString.prefix { $0 != "#" }))
        queryString = (URLComponents(string: url)?.queryItems ?? []).map { HAR.Field(name: $0.name, value: $0.value ?? "") }
        headers = request.headers.dictionary.fields(redactor)
        let pairs = request.headers["Cookie"]?.split(separator: ";") ?? []
        cookies = pairs.flatMap { String($0).setCookies }.map { $0.field(redactor) }

        let type = request.headers["Content-Type"]
        let body = try? request.body?.data()
        postData = body.map { body in
            let kept = redactor.requestBody(body, contentType: type)
            let (text, encoding) = kept?.harText ?? ("", nil)
            return HAR.PostData(
                mimeType: type ?? "", text: text, _encoding: encoding,
                comment: kept == nil ? "The body of \(body.count) bytes was left out. Replay does not compare it." : nil)
        }
        bodySize = body?.count ?? 0
    }
}

extension HAR.Response {
    fileprivate init(_ response: APIResponse, _ redactor: RecordingRedactor) {
        status = response.statusCode
        statusText = HTTPStatus.reasons[status] ?? ""
        headers = response.response.headerFields.fields(redactor)
        cookies = (response.value(forHTTPHeaderField: "Set-Cookie") ?? "").setCookies.map { $0.field(redactor) }
        redirectURL = response.value(forHTTPHeaderField: "Location").map { redactor.header("Location", $0) } ?? ""
        let type = response.value(forHTTPHeaderField: "Content-Type")
        let body = redactor.responseBody(response.data, contentType: type)
        let (text, encoding) = body?.harText ?? (nil, nil)
        content = HAR.Content(
            size: (body ?? response.data).count, mimeType: type ?? "", text: text, encoding: encoding,
            comment: body == nil ? .leftOut(type: type, size: response.data.count) : nil)
    }

    fileprivate init(_ error: any Error) {
        status = 0
        content = HAR.Content(mimeType: "x-unknown", text: "")
        // The description of an app's own error may have secrets.
        _error = RecordedFailure(error).text
    }
}

extension SetCookie {
    fileprivate func field(_ redactor: RecordingRedactor) -> HAR.Field { HAR.Field(name: name, value: redactor.cookie(name, value)) }
}

extension [String: String] {
    fileprivate func fields(_ redactor: RecordingRedactor) -> [HAR.Field] {
        sortedByName.map { HAR.Field(name: $0, value: redactor.header($0, $1)) }
    }
}

extension String {
    /// Why a recording has no body, and how to keep it. Replay says so, too.
    fileprivate static func leftOut(type: String?, size: Int) -> String {
        let start =
            "the recording left out its body (\(type.map { "\($0.mediaType), " } ?? "")\(size) bytes), which is neither JSON nor a form"
        let argument = type.map { "keeping: [\"\($0.mediaType)\"]" } ?? "redacting: .none"
        return "\(start); to keep it, record with RecordingMiddleware(to: file, \(argument))"
    }
}

extension APIResponse {
    /// Whether the header announces a body that is missing here, because it went to a file.
    fileprivate var isWithoutItsBody: Bool {
        guard data.isEmpty, request.method != .head, response.isSuccessful, ![204, 205].contains(statusCode) else { return false }
        let length = value(forHTTPHeaderField: "Content-Length").flatMap(Int.init) ?? 0
        return length > 0 || value(forHTTPHeaderField: "Transfer-Encoding") != nil
    }
}

extension HAR.Entry {
    /// A request that reached a scope, with its whole body, and its answer.
    init(_ request: PreparedRequest, _ answer: Answer, started: Date) {
        let answer = answer.within(request.timeoutInterval ?? 60)
        var result = answer.result(of: request)
        if case .failure(let error as APIError) = result, error.underlying is MockFailure { result = .failure(NoAnswerFromTheMock()) }
        self.init(request, result, started: started, milliseconds: answer.duration * 1000)
    }
}

/// A recording shows the name of an error's type.
private struct NoAnswerFromTheMock: Error {}

extension Answer {
    /// In seconds.
    fileprivate var duration: TimeInterval {
        steps.reduce(max(0, delay)) { if case .wait(let seconds) = $1, seconds > 0 { $0 + seconds } else { $0 } }
    }

    /// The whole answer as a transport delivers it.
    fileprivate func result(of request: PreparedRequest) -> SingleEvent<APIResponse> {
        for step in steps {
            if case .failure(let error) = step { return .failure(APIError.transport(request, underlying: error)) }
        }
        guard let head else { return .failure(APIError.transport(request, underlying: URLError(.timedOut))) }
        let chunks = chunks
        return .success(APIResponse(request: request, response: head, data: chunks.count == 1 ? chunks[0] : Data(chunks.joined())))
    }
}
