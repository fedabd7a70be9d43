import Foundation
import MiniRx

extension Single<APIResponse> {
    /// Copies the request's `body` to a file in `directory`, for a session to send. The event or the dispose removes the file. Only a
    /// killed process leaves one.
    static func uploading(
        _ request: PreparedRequest, _ body: RequestBody, from directory: URL, _ send: @escaping @Sendable (PreparedRequest) -> Single
    ) -> Single {
        deferred {
            let file = UploadFile(in: directory)
            let sending = deferred {
                try file.write(body)
                var upload = request
                upload.uploadFile = file.url
                return send(upload)
            }
            // A large body takes long.
            .subscribe(on: ConcurrentDispatchQueueScheduler(qos: .userInitiated))
            // A dispose removes the file at once, even during the write.
            return sending.finally { _ in file.remove() }
        }
    }
}

extension PreparedRequest {
    /// A temporary file with the whole body, for a session that uploads only a single file.
    var uploadFile: URL? {
        get { options[UploadFileKey.self] }
        set { options[UploadFileKey.self] = newValue }
    }
}

private enum UploadFileKey: BuiltInOptionKey { static var defaultValue: URL? { nil } }

/// A temporary file with a request's whole body.
private final class UploadFile: Sendable {
    let url: URL
    private let isRemoved = Locked(false)

    init(in directory: URL) { url = directory.appendingPathComponent("\(UUID().uuidString).upload") }

    /// Creates the file and writes `body`, until the file is removed.
    func write(_ body: RequestBody) throws {
        do {
            let handle = try create()
            defer { try? handle.close() }
            var reader = body.makeReader()
            while let chunk = try reader.read(upToCount: 1 << 16) {
                if isRemoved.withLock({ $0 }) { throw CancellationError() }
                try handle.write(contentsOf: chunk)
            }
        } catch {
            throw APIError.invalidRequest(reason: "its body cannot be put together in a temporary file", underlying: error)
        }
    }

    /// Creates the file under the lock, so that a removed file does not come back.
    private func create() throws -> FileHandle {
        try isRemoved.withLock { isRemoved in
            if isRemoved { throw CancellationError() }
            try Data().write(to: url, options: .withoutOverwriting)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
            return try FileHandle(forWritingTo: url)
        }
    }

    func remove() {
        isRemoved.withLock { isRemoved in
            isRemoved = true
            unlink(url.path)
        }
    }
}
