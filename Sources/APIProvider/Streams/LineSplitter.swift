import Foundation

/// Splits bytes arriving in pieces into lines.
struct LineSplitter: Sendable {
    private static let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))

    /// Whether a CR without an LF ends a line, too.
    let endsAtCarriageReturn: Bool
    /// The maximum line size, in bytes.
    let maxSize: Int
    /// The beginning of an unterminated line.
    private var rest: [UInt8] = []
    /// Whether the last byte was a CR at the end of a line. A following LF then belongs to the same terminator.
    private var followsCarriageReturn = false
    private var isFirst = true

    init(endsAtCarriageReturn: Bool = true, maxSize: Int) {
        (self.endsAtCarriageReturn, self.maxSize) = (endsAtCarriageReturn, maxSize)
    }

    /// Calls `body` with each line that ends in `bytes`, without the terminator.
    mutating func split(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        var start = 0
        if followsCarriageReturn, let first = bytes.first {
            followsCarriageReturn = false
            if first == Self.lineFeed { start = 1 }
        }
        while let end = end(of: bytes, from: start) {
            try emit(UnsafeBufferPointer(rebasing: bytes[start..<end]), to: body)
            start = end + 1
            guard endsAtCarriageReturn, bytes[end] == Self.carriageReturn else { continue }
            if start == bytes.count {
                followsCarriageReturn = true
            } else if bytes[start] == Self.lineFeed {
                start += 1
            }
        }
        rest.append(contentsOf: bytes[start...])
        try checkSize(rest.count)
    }

    /// Calls `body` with an unterminated last line.
    mutating func finish(_ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        guard !rest.isEmpty else { return }
        try emit(UnsafeBufferPointer(start: nil, count: 0), to: body)
    }

    private func end(of bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard endsAtCarriageReturn else { return bytes[start...].firstIndex(of: Self.lineFeed) }
        var index = start
        while index < bytes.count, bytes[index] != Self.lineFeed, bytes[index] != Self.carriageReturn { index += 1 }
        return index < bytes.count ? index : nil
    }

    /// A line in one piece is not copied.
    private mutating func emit(_ line: UnsafeBufferPointer<UInt8>, to body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        defer { isFirst = false }
        guard !rest.isEmpty else { return try emitWhole(line, to: body) }
        rest.append(contentsOf: line)
        defer { rest.removeAll(keepingCapacity: rest.capacity <= 65_536) }
        try rest.withUnsafeBufferPointer { try emitWhole($0, to: body) }
    }

    private func emitWhole(_ line: UnsafeBufferPointer<UInt8>, to body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        try checkSize(line.count)
        // A byte order mark at the stream's beginning is not text.
        let hasMark = isFirst && line.starts(with: [0xEF, 0xBB, 0xBF])
        try body(hasMark ? UnsafeBufferPointer(rebasing: line[3...]) : line)
    }

    private func checkSize(_ count: Int) throws {
        if count > maxSize { throw ElementTooLarge(maxSize: maxSize) }
    }
}

/// An element beyond the stream's limit.
struct ElementTooLarge: Error {
    let maxSize: Int
}
