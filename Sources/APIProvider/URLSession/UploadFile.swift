import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Single<APIResponse> {
    /// Copies `pieces`, the body of `request`, to a file in `folder`, from which a session can send it. The file is removed with the event or
    /// the dispose. Only a process that is killed leaves it there.
    static func uploading(
        _ request: URLRequest, _ pieces: [BodyPiece], from folder: URL, _ send: @escaping @Sendable (URLRequest) -> Single
    ) -> Single {
        deferred {
            let file = UploadFile(in: folder)
            let sending = deferred {
                try file.write(pieces)
                var upload = request
                upload.httpBodyStream = BodyStream(pieces, copiedTo: file.url)
                return send(upload)
            }
            // A large body takes its time.
            .subscribe(on: ConcurrentDispatchQueueScheduler(qos: .userInitiated))
            // A dispose removes the file at once, also while it is written.
            return create { observer in
                let subscription = sending.subscribe { event in
                    file.remove()
                    observer(event)
                }
                return Disposables.create {
                    subscription.dispose()
                    file.remove()
                }
            }
        }
    }
}

/// A temporary file with the whole body of a request.
private final class UploadFile: Sendable {
    let url: URL
    private let isRemoved = Locked(false)

    init(in folder: URL) { url = folder.appendingPathComponent("\(UUID().uuidString).upload") }

    /// Creates the file and writes `pieces` to it, until the file is removed.
    func write(_ pieces: [BodyPiece]) throws {
        do {
            let handle = try create()
            defer { try? handle.close() }
            let body = BodyStream(pieces)
            body.open()
            defer { body.close() }
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = body.read(&chunk, maxLength: chunk.count), count > 0 {
                if isRemoved.withLock({ $0 }) { throw CancellationError() }
                try handle.write(contentsOf: Data(chunk[..<count]))
            }
            if let error = body.streamError { throw error }
        } catch {
            throw APIError.invalidRequest(reason: "its body cannot be put together in a temporary file", underlying: error)
        }
    }

    /// Creates the file under the lock, so that a file that has been removed does not come back.
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
