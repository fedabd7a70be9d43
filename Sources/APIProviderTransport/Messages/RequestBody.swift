public import Foundation

/// A ``PreparedRequest``'s encoded body: data and files, one after the other.
///
/// You can read a body any number of times. Files are read while the request is sent.
///
/// Two bodies are equal if they consist of the same data, and of the same files with the same sizes, in the same order. No file is read,
/// and a multipart body does not equal a body of its ``data()``.
public struct RequestBody: Sendable, Equatable {
    package let pieces: [BodyPiece]
    /// The number of bytes.
    public let count: Int
    /// A multipart body's boundary; `nil` for any other body.
    let boundary: String?

    /// Creates a body from `data`.
    public init(_ data: Data) { self.init([.data(data)]) }

    package init(_ pieces: [BodyPiece], boundary: String? = nil) {
        (self.pieces, self.boundary) = (pieces, boundary)
        count = pieces.reduce(0) { $0 + $1.count }
    }

    /// Returns the whole body. Files are read into memory.
    ///
    /// - Throws: ``APIError/invalidRequest(reason:underlying:)`` if a file cannot be read, or is shorter now.
    public func data() throws -> Data {
        if pieces.count == 1, case .data(let data) = pieces[0] { return data }
        // Mapped bytes would end the process if the file shrank before the read.
        return try wrappingReadErrors {
            var (reader, data) = (makeReader(), Data(capacity: count))
            while let chunk = try reader.read(upToCount: 1 << 20) { data.append(chunk) }
            return data
        }
    }

    // MARK: - Reading in chunks

    /// Returns a reader that begins at the first byte.
    @_spi(Transports) public func makeReader() -> Reader { Reader(pieces: pieces[...]) }

    /// Reads a ``RequestBody`` in chunks.
    @_spi(Transports) public struct Reader: Sendable {
        private var pieces: ArraySlice<BodyPiece>
        private var file: FileHandle?
        /// The number of bytes read from the first piece.
        private var offset = 0

        fileprivate init(pieces: ArraySlice<BodyPiece>) { self.pieces = pieces }

        /// Returns the next bytes, at most `count`; `nil` at the end. May wait for a disk.
        ///
        /// - Throws: A `CocoaError` if a file cannot be read, or is shorter than when the request was created.
        public mutating func read(upToCount count: Int) throws -> Data? {
            while let piece = pieces.first {
                let rest = piece.count - offset
                if rest > 0 {
                    guard count > 0 else { return Data() }
                    let chunk = try read(min(rest, count), of: piece)
                    offset += chunk.count
                    return chunk
                }
                (pieces, file, offset) = (pieces.dropFirst(), nil, 0)
            }
            return nil
        }

        private mutating func read(_ count: Int, of piece: BodyPiece) throws -> Data {
            switch piece {
            case .data(let data): return data.dropFirst(offset).prefix(count)
            case .file(let url, _):
                let chunk: Data?
                do {
                    let file = try file ?? FileHandle(forReadingFrom: url)
                    self.file = file
                    #if canImport(ObjectiveC)
                    chunk = try autoreleasepool { try file.read(upToCount: count) }
                    #else
                    chunk = try file.read(upToCount: count)
                    #endif
                } catch {
                    throw piece.failure(error)
                }
                guard let chunk, !chunk.isEmpty else { throw piece.failure(nil) }
                return chunk
            }
        }
    }

    // MARK: - Files

    /// The file, if the whole body is one file.
    var file: URL? {
        guard pieces.count == 1, case .file(let file, _) = pieces[0] else { return nil }
        return file
    }

    var hasFiles: Bool { pieces.contains { if case .file = $0 { true } else { false } } }

    /// The first bytes, at most `count`, as far as they can be read.
    func prefix(_ count: Int) -> Data {
        var reader = makeReader()
        var data = Data()
        while data.count < count, let chunk = try? reader.read(upToCount: count - data.count) { data += chunk }
        return data
    }

    /// Throws if a file cannot be opened, or is shorter than before. Reads no bytes.
    func check() throws {
        guard hasFiles else { return }
        try wrappingReadErrors {
            for piece in pieces {
                guard case .file(let file, let count) = piece else { continue }
                // No more bytes are sent than the Content-Length announces.
                if try file.readableByteCount() < count { throw piece.failure(nil) }
            }
        }
    }

    private func wrappingReadErrors<Result>(_ read: () throws -> Result) throws -> Result {
        do {
            return try read()
        } catch {
            throw APIError.invalidRequest(reason: "its body cannot be read", underlying: error)
        }
    }
}

// MARK: - Pieces

/// Part of a ``RequestBody``.
package enum BodyPiece: Sendable, Equatable {
    case data(Data)
    case file(URL, count: Int)

    var count: Int {
        switch self {
        case .data(let data): data.count
        case .file(_, let count): count
        }
    }

    /// The error for unreadable content: because of `error`, or else because the file shrank.
    fileprivate func failure(_ error: (any Error)?) -> CocoaError {
        guard case .file(let file, _) = self else { return CocoaError(.fileReadUnknown) }
        let reason = error.map { "cannot be read: \($0.explanation.withoutFullStop)" } ?? "has become shorter since the request was made"
        let message = "the file \(file.path) \(reason)."
        return CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: file.path, NSLocalizedDescriptionKey: message])
    }
}

extension URL {
    /// The number of bytes in the readable, regular file at this URL. Opening a pipe would wait for the other end, and a device may have no
    /// end.
    func readableByteCount() throws -> Int {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            let message = isFolder ? "it is a folder." : "it is not a regular file; read it into memory and send that."
            throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: path, NSLocalizedDescriptionKey: message])
        }
        let file = try FileHandle(forReadingFrom: self)
        defer { try? file.close() }
        // The system creates some files, such as those in /proc, during the read.
        if status.st_size == 0, try file.read(upToCount: 1)?.isEmpty == false {
            let message = "its size is not known; read it into memory and send that."
            throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: path, NSLocalizedDescriptionKey: message])
        }
        // Some Apple Watches have a 32-bit `Int`.
        guard let count = Int(exactly: status.st_size) else { throw CocoaError(.fileReadTooLarge) }
        return count
    }
}

extension BodyPiece {
    /// A file's content, with the current length.
    package init(_ file: URL) throws {
        guard file.isFileURL else { throw APIError.invalid("the URL of its body, \(file.redacted), is not a file URL") }
        do {
            self = .file(file, count: try file.readableByteCount())
        } catch {
            throw APIError.invalidRequest(reason: "its body cannot be read from \(file.path)", underlying: error)
        }
    }
}
