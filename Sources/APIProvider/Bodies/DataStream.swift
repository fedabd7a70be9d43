import Foundation

/// Reads bytes from where they are. `InputStream(data:)` copies all of them on Linux (Swift 6.3.1).
final class DataStream: InputStream {
    private var rest: Data

    override init(data: Data) {
        rest = data
        super.init(data: Data())
    }

    override func open() {}

    override func close() {}

    override var streamStatus: Status { rest.isEmpty ? .atEnd : .open }

    override var streamError: (any Error)? { nil }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        let count = min(max(maxLength, 0), rest.count)
        rest.copyBytes(to: buffer, count: count)
        rest = rest.dropFirst(count)
        return count
    }
}
