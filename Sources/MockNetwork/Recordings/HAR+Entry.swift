import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HAR.Entry {
    /// - Parameters:
    ///   - request: The request.
    ///   - result: Its response or error.
    ///   - started: The time at which it was sent.
    ///   - milliseconds: The time that it took.
    init(
        _ request: URLRequest, _ result: Result<APIResponse, any Error>, started: Date, milliseconds: Double, redacting redaction: Redaction
    ) {
        let response = try? result.get()
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        startedDateTime = formatter.string(from: started)
        time = milliseconds
        timings = HAR.Timings(wait: milliseconds)
        let redactor = Redactor(redaction, for: .recording)
        self.request = HAR.Request(request, redactor)
        switch result {
        case .success(let response): self.response = HAR.Response(response, redactor)
        case .failure(let error): self.response = HAR.Response(error)
        }
        comment = response?.isWithoutItsBody == true ? "No body came here, as when it is downloaded to a file." : nil
    }
}

extension HAR.Request {
    fileprivate init(_ request: URLRequest, _ redactor: Redactor) {
        method = request.httpMethod ?? "GET"
        // The format leaves fragments out.
        url = redactor.reference(String(request.url?.absoluteString.prefix { $0 != "#" } ?? ""))
        queryString = (URLComponents(string: url)?.queryItems ?? []).map { HAR.Field(name: $0.name, value: $0.value ?? "") }
        headers = (request.allHTTPHeaderFields ?? [:]).fields(redactor)
        let pairs = request.value(forHTTPHeaderField: "Cookie")?.split(separator: ";") ?? []
        cookies = pairs.compactMap { HAR.Field(cookie: $0, of: "Cookie", redactor) }

        let type = request.value(forHTTPHeaderField: "Content-Type")
        let body = request.bodyInMemory.map { redactor.body($0, contentType: type) }
        postData = body.map { body in
            let (text, encoding) = body.harText
            return HAR.PostData(mimeType: redactor.mediaType(type), text: text, _encoding: encoding)
        }
        let isStream = body == nil && request.httpBodyStream != nil
        bodySize = isStream ? -1 : body?.count ?? 0
        comment = isStream ? "The body is a stream, which is not read here." : nil
    }
}

extension HAR.Response {
    fileprivate init(_ response: APIResponse, _ redactor: Redactor) {
        status = response.statusCode
        statusText = HTTPStatus.reasons[status] ?? ""
        headers = response.response.headerFields.fields(redactor)
        cookies = (response.value(forHTTPHeaderField: "Set-Cookie") ?? "").setCookies
            .compactMap { HAR.Field(cookie: $0, of: "Set-Cookie", redactor) }
        redirectURL = response.value(forHTTPHeaderField: "Location").map { redactor.header("Location", $0) } ?? ""
        let type = response.value(forHTTPHeaderField: "Content-Type")
        let body = redactor.body(response.data, contentType: type)
        let (text, encoding) = body.harText
        content = HAR.Content(size: body.count, mimeType: redactor.mediaType(type), text: text, encoding: encoding)
    }

    fileprivate init(_ error: any Error) {
        status = 0
        content = HAR.Content(mimeType: "x-unknown", text: "")
        // The description of an app's own error may have secrets.
        _error = RecordedFailure(error).text
    }
}

extension HAR.Field {
    /// Reads `name=value`. The attributes of the cookie are not recorded.
    fileprivate init?(cookie: some StringProtocol, of header: String, _ redactor: Redactor) {
        let pair = cookie.prefix { $0 != ";" }
        guard let equals = pair.firstIndex(of: "=") else { return nil }
        name = pair[..<equals].trimmingCharacters(in: .whitespaces)
        let value = pair[equals...].dropFirst().trimmingCharacters(in: .whitespaces)
        let isHidden = redactor.header(header, "a=b") == Redactor.placeholder
        self.value = isHidden && !value.isEmpty ? Redactor.placeholder : redactor.parameter(name, value)
    }
}

extension [String: String] {
    fileprivate func fields(_ redactor: Redactor) -> [HAR.Field] {
        byName.map { HAR.Field(name: $0, value: redactor.header($0, $1)) }
    }
}

extension Redactor {
    fileprivate func mediaType(_ type: String?) -> String { header("Content-Type", type ?? "") }
}

extension String {
    /// The cookies of several `Set-Cookie` fields, which are joined with commas. Their dates have commas, too: `Expires=Wed, 09 Jun …`.
    fileprivate var setCookies: [String] {
        split(separator: ",").reduce(into: []) { cookies, piece in
            if cookies.isEmpty || piece.prefix(while: { $0 != ";" }).contains("=") {
                cookies.append(String(piece))
            } else {
                cookies[cookies.count - 1] += ",\(piece)"
            }
        }
    }
}

extension APIResponse {
    /// Whether the header announces a body that is missing here. A middleware is not told that a body goes to a file.
    fileprivate var isWithoutItsBody: Bool {
        guard data.isEmpty, request.httpMethod != "HEAD", response.isAccepted, ![204, 205].contains(statusCode) else { return false }
        let length = value(forHTTPHeaderField: "Content-Length").flatMap(Int.init) ?? 0
        return length > 0 || value(forHTTPHeaderField: "Transfer-Encoding") != nil
    }
}
