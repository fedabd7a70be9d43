import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Single<APIResponse> {
    /// Writes the body of `request` to a file in `folder`, and sends that. The file is removed at the end, whatever it is, and with a
    /// dispose. Only a process that is killed leaves it there.
    static func uploading(_ request: URLRequest, from folder: URL, _ send: @escaping @Sendable (URLRequest) -> Single) -> Single {
        deferred {
            let file = try UploadFile(request, in: folder)
            let upload = try file.asBody(of: request)
            return Single.create { observer in
                let sending = send(upload).subscribe { event in
                    file.remove()
                    observer(event)
                }
                return Disposables.create {
                    sending.dispose()
                    file.remove()
                }
            }
        }
        // A large body takes its time.
        .subscribe(on: ConcurrentDispatchQueueScheduler(qos: .userInitiated))
        .map { response in
            var last = response.request
            if last.httpBodyStream != nil { last.httpBodyStream = request.httpBodyStream }
            return APIResponse(request: last, response: response.response, data: response.data)
        }
    }
}

/// A temporary file with the whole of a request's body.
private struct UploadFile {
    private let url: URL

    init(_ request: URLRequest, in folder: URL) throws {
        url = folder.appendingPathComponent("\(UUID().uuidString).upload")
        do {
            try Data().write(to: url, options: .withoutOverwriting)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
            let handle = try FileHandle(forWritingTo: url)
            defer { try? handle.close() }
            guard let body = (request.httpBodyStream as? BodyStream)?.unread else { return }
            body.open()
            defer { body.close() }
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = body.read(&chunk, maxLength: chunk.count), count > 0 {
                try handle.write(contentsOf: Data(chunk[..<count]))
            }
            if let error = body.streamError { throw error }
        } catch {
            remove()
            throw APIError.invalidRequest(reason: "its body cannot be put together in a temporary file", underlying: error)
        }
    }

    /// The request with the file as its body.
    func asBody(of request: URLRequest) throws -> URLRequest {
        var request = request
        request.httpBodyStream = BodyStream([try BodyPiece(url)])
        return request
    }

    func remove() { unlink(url.path) }
}
