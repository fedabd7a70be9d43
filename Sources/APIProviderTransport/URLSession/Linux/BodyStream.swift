#if canImport(FoundationNetworking)
import Foundation

/// The body as a stream for libcurl. A body in memory is sent as a stream, too: when libcurl resends a request, Foundation asks only for a
/// new stream, and with `httpBody` the request would fail (Swift 6.3.1).
///
/// Only one thread at a time may read.
final class BodyStream: InputStream {
    private let body: RequestBody
    private var reader: RequestBody.Reader
    private var status = Status.notOpen
    private var failure: (any Error)?

    init(_ body: RequestBody) {
        self.body = body
        reader = body.makeReader()
        super.init(data: Data())
    }

    /// Starts again at the beginning.
    func rewind() { (reader, status, failure) = (body.makeReader(), .notOpen, nil) }

    override func open() {
        if status == .notOpen { status = .open }
    }

    override func close() { status = .closed }

    override var streamStatus: Status { status }

    override var streamError: (any Error)? { failure }

    override var hasBytesAvailable: Bool { status == .open }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard status == .open, maxLength > 0 else { return status == .error ? -1 : 0 }
        do {
            guard let chunk = try reader.read(upToCount: maxLength) else {
                status = .atEnd
                return 0
            }
            chunk.copyBytes(to: buffer, count: chunk.count)
            return chunk.count
        } catch {
            (status, failure, reader) = (.error, error, body.makeReader())
            return -1
        }
    }
}
#endif
