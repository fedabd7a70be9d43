import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Single<APIResponse> {
    /// Sends `request`. In a resumable download, requests the missing bytes (RFC 9110, sections 13.1.5, 14 and 15.3.7), and, if the server
    /// has no such part, once more the whole.
    static func resuming(_ request: PreparedRequest, _ send: @escaping @Sendable (PreparedRequest) -> Single) -> Single {
        guard case .file(let destination, let download?, _) = request.bodyDestination, let url = download.resumableURL else {
            return send(request)
        }
        return .deferred {
            var request = request
            try request.checkResumable()
            // A decoded body's length does not match the range's.
            request.headers["Accept-Encoding"] = "identity"
            let opened = try APIError.explainingDestination { try download.openResumable(destination, url) }
            guard let file = opened, let resumption = file.resumption else { return send(request) }
            request.bodyDestination = .file(destination, download, resuming: file)
            guard let eTag = resumption.eTag else { return send(request) }
            var ranged = request
            ranged.headers["Range"] = "bytes=\(resumption.offset)-"
            ranged.headers["If-Range"] = eTag
            return send(ranged).flatMapResult { [request] event in
                guard event.refusesRange else { return .event(event) }
                do { try file.discard() } catch { return .event(.failure(APIError.transport(request, underlying: error))) }
                return .single(send(request))
            }
        }
    }
}

extension SingleEvent<APIResponse> {
    /// Whether to request the whole, because the server does not send the requested part.
    fileprivate var refusesRange: Bool {
        switch self {
        // The app's own transport may return a part in memory.
        case .success(let response): [206, 400, 412, 416, 501].contains(response.statusCode) && response.file == nil
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
