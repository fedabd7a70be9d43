import Foundation

/// Where the bytes of a body go.
enum BodySink {
    case memory(Data)
    case file(PartialFile)
    case stream(StreamBuffer)

    var file: PartialFile? {
        if case .file(let file) = self { file } else { nil }
    }

    var stream: StreamBuffer? {
        if case .stream(let stream) = self { stream } else { nil }
    }

    var data: Data {
        if case .memory(let data) = self { data } else { Data() }
    }

    /// Appends `chunk` if the body goes into memory. It does not wait, so you may call it under a lock.
    mutating func keep(_ chunk: Data) {
        guard case .memory(var data) = self else { return }
        // Only one reference is left, so the bytes are appended without a copy.
        self = .memory(Data())
        data.append(chunk)
        self = .memory(data)
    }

    /// Writes `chunk` if the body goes to a file or a reader. It may wait for the disk.
    func write(_ chunk: Data) throws {
        switch self {
        case .memory: break
        case .file(let file): try file.append(chunk)
        case .stream(let stream): stream.append(chunk)
        }
    }
}
