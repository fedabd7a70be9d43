package import MiniRx

extension Transport {
    /// Sends `request`, and follows redirects. In a download that goes on, requests the missing bytes (RFC 9110, sections 13.1.5, 14 and
    /// 15.3.7), and, if the server has no such part, once more the whole.
    package func sendFollowingRedirects(_ request: PreparedRequest) -> Single<APIResponse> {
        let send: @Sendable (PreparedRequest) -> Single<APIResponse> = { .followingRedirects($0) { self.send($0) } }
        guard case .file(let file, let download?, _) = request.bodyDestination, let attempt = download.beginAttempt() else {
            return send(request)
        }
        return .deferred {
            var request = request
            try request.checkResumable()
            // A decoded body's length does not match the range's.
            request.headers["Accept-Encoding"] = "identity"
            return attempt.flatMap { [request] folder, rest in
                var whole = request
                whole.bodyDestination = .file(file, download, folder)
                guard let rest else { return send(whole) }
                var ranged = whole
                ranged.headers = request.headers.merging(rest)
                return send(ranged).flatMapResult { [whole] in $0.refusesRange ? .single(send(whole)) : .event($0) }
            }
        }
    }
}

extension SingleEvent<APIResponse> {
    /// Whether to request the whole, because the server does not send the requested part.
    fileprivate var refusesRange: Bool {
        switch self {
        // The app's own transport may return a part in memory.
        case .success(let response):
            response.file == nil && ([400, 412, 416, 501].contains(response.statusCode) || response.httpResponse.isPart)
        case .failure(let error): (error as? APIError)?.underlying is UnexpectedRange
        }
    }
}

extension PreparedRequest {
    fileprivate func checkResumable() throws {
        guard method == .get, body == nil else { throw APIError.invalid("resuming() needs a GET without a body") }
        let name = ["Range", "If-Range", "Accept-Encoding"].first { headers[$0] != nil }
        if let name { throw APIError.invalid("resuming() sets the header \(name) itself; remove it from the endpoint and the middlewares") }
    }
}
