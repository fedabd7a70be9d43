import Foundation

/// A body that is read while it is sent: bytes and the content of files, one after the other.
///
/// It can be read once, by one thread at a time. ``unread`` starts at the beginning, so a request that has one can be sent again.
final class BodyStream: InputStream {
    /// How many bytes come in all.
    let length: Int
    let pieces: [BodyPiece]
    /// A file with the whole body: the only piece, or a temporary copy of all pieces.
    let file: URL?
    private var next = 0
    private var current: InputStream?
    private var bytesLeft = 0
    private var status = Status.notOpen
    private var failure: (any Error)?

    init(_ pieces: [BodyPiece], copiedTo copy: URL? = nil) {
        (self.pieces, file) = (pieces, copy ?? pieces.onlyFile)
        length = pieces.length
        super.init(data: Data())
    }

    deinit { current?.close() }

    var unread: BodyStream { BodyStream(pieces, copiedTo: file) }

    /// Starts at the beginning again.
    func rewind() {
        current?.close()
        (current, next, bytesLeft, status, failure) = (nil, 0, 0, .notOpen, nil)
    }

    /// All of it in memory.
    func data() throws -> Data { try reading { try pieces.data() } }

    /// Throws if a file cannot be read, or is shorter than it was. Nothing is read for this.
    func check() throws { try reading { for piece in pieces { _ = try piece.data() } } }

    private func reading<Result>(_ read: () throws -> Result) throws -> Result {
        do {
            return try read()
        } catch {
            throw APIError.invalidRequest(reason: "its body cannot be read", underlying: error)
        }
    }

    override func open() {
        if status == .notOpen { status = .open }
    }

    override func close() {
        current?.close()
        status = .closed
    }

    override var streamStatus: Status { status }

    override var streamError: (any Error)? { failure }

    override var hasBytesAvailable: Bool { status == .open }

    override func getBuffer(_: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>) -> Bool { false }

    // On Apple's systems, these have no implementation to inherit, and a session calls them.
    private weak var listener: (any StreamDelegate)?

    override var delegate: (any StreamDelegate)? {
        get { listener }
        set { listener = newValue }
    }

    override func schedule(in _: RunLoop, forMode _: RunLoop.Mode) {}

    override func remove(from _: RunLoop, forMode _: RunLoop.Mode) {}

    #if canImport(ObjectiveC)
    override func property(forKey _: PropertyKey) -> Any? { nil }

    override func setProperty(_: Any?, forKey _: PropertyKey) -> Bool { false }
    #else
    override func property(forKey _: PropertyKey) -> AnyObject? { nil }

    override func setProperty(_: AnyObject?, forKey _: PropertyKey) -> Bool { false }
    #endif

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard maxLength > 0 else { return 0 }
        while status == .open {
            if bytesLeft > 0 {
                let count = current?.read(buffer, maxLength: min(maxLength, bytesLeft)) ?? -1
                guard count > 0 else {
                    // On Linux, `streamError` of a stream without an error ends the process.
                    let error = current?.streamStatus == .error ? current?.streamError : nil
                    return fail(with: pieces[next - 1].failure(error))
                }
                bytesLeft -= count
                return count
            }
            current?.close()
            guard next < pieces.count else {
                status = .atEnd
                break
            }
            bytesLeft = pieces[next].count
            current = pieces[next].stream
            current?.open()
            next += 1
        }
        return status == .atEnd ? 0 : -1
    }

    private func fail(with error: any Error) -> Int {
        (status, failure) = (.error, error)
        return -1
    }
}

/// A part of a ``BodyStream``.
enum BodyPiece: Sendable {
    case data(Data)
    case file(URL, count: Int)

    /// The content of a file, as long as it is now.
    init(_ file: URL) throws {
        guard file.isFileURL else { throw APIError.invalid("the URL of its body, \(file.redacted), is not a file URL") }
        do {
            self = .file(file, count: try Data(mapping: file).count)
        } catch {
            let userInfo = (error as NSError).userInfo.merging([Redactor.isRedactedKey: true]) { $1 }
            let reason = CocoaError((error as? CocoaError)?.code ?? .fileReadUnknown, userInfo: userInfo)
            throw APIError.invalidRequest(reason: "its body cannot be read from \(file.path)", underlying: reason)
        }
    }

    var count: Int {
        switch self {
        case .data(let data): data.count
        case .file(_, let count): count
        }
    }

    var isFile: Bool {
        if case .file = self { true } else { false }
    }

    fileprivate var stream: InputStream? {
        switch self {
        case .data(let data): DataStream(data: data)
        case .file(let file, _): InputStream(url: file)
        }
    }

    fileprivate func data() throws -> Data {
        switch self {
        case .data(let data): return data
        case .file(let file, let count):
            // As long as it was when the length of the body was told.
            let data = try Data(mapping: file).prefix(count)
            guard data.count == count else { throw failure(nil) }
            return data
        }
    }

    /// Why the content did not come: `error`, or else the file has become shorter.
    fileprivate func failure(_ error: (any Error)?) -> CocoaError {
        guard case .file(let file, _) = self else { return CocoaError(.fileReadUnknown) }
        var reason = "has become shorter since the request was made"
        if let error = error.map({ $0 as NSError }) {
            reason = "cannot be read: "
            reason += error.domain == NSPOSIXErrorDomain ? String(cString: strerror(Int32(error.code))) : error.localizedDescription
        }
        let sentence = "the file \(file.path) \(reason)."
        let userInfo: [String: Any] = [
            NSFilePathErrorKey: file.path, NSLocalizedDescriptionKey: sentence, Redactor.isRedactedKey: true,
        ]
        return CocoaError(.fileReadUnknown, userInfo: userInfo)
    }
}

extension Data {
    /// The content of a regular file, of which nothing is read yet. Opening a pipe would wait for its other end, and a device may have no end.
    fileprivate init(mapping file: URL) throws {
        var status = stat()
        if stat(file.path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
            let sentence = "it is not a regular file; read it into memory and send that."
            throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: file.path, NSLocalizedDescriptionKey: sentence])
        }
        try self.init(contentsOf: file, options: .alwaysMapped)
    }
}

extension [BodyPiece] {
    var length: Int { reduce(0) { $0 + $1.count } }

    /// The file, if that is the whole body.
    var onlyFile: URL? {
        guard count == 1, case .file(let file, _) = self[0] else { return nil }
        return file
    }

    /// All of it in memory. A single file is mapped, so it takes address space alone.
    func data() throws -> Data {
        if count == 1 { return try self[0].data() }
        return try reduce(into: Data(capacity: length)) { $0.append(try $1.data()) }
    }
}
