import Foundation

/// The place for a body's bytes.
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

    /// Appends `chunk` to a body in memory. Otherwise does nothing.
    mutating func append(_ chunk: Data) {
        guard case .memory(var data) = self else { return }
        // Most bodies come in one piece.
        if data.isEmpty { return self = .memory(chunk) }
        // With one reference left, appending makes no copy.
        self = .memory(Data())
        data.append(chunk)
        self = .memory(data)
    }
}
