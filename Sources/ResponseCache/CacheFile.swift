import Foundation

/// What a file of a ``DiskCache`` looks like: a magic number with the version, a checksum of the rest, the key, and the responses. Numbers are
/// little-endian, and texts and bodies begin with their length.
enum CacheFile {
    static let suffix = ".response"
    private static let magic: UInt64 = 0x3252_5345_5045_5241

    static func data(of responses: [CachedResponse], for key: String) -> Data {
        var writer = Writer()
        writer.write(key)
        writer.write(responses.count)
        for response in responses {
            writer.write(response.status)
            writer.write(response.requested)
            writer.write(response.received)
            for fields in [response.fields, response.selectingFields] {
                writer.write(fields.count)
                for (name, value) in fields {
                    writer.write(name)
                    writer.write(value)
                }
            }
            writer.write(response.body)
        }
        var head = Writer()
        head.write(number: magic)
        head.write(number: writer.data.checksum)
        return head.data + writer.data
    }

    /// `nil` if the data is anything else than responses for this key.
    static func responses(in data: Data, for key: String) -> [CachedResponse]? {
        var reader = Reader(data)
        guard reader.number() == magic, let checksum = reader.number(), data.dropFirst(16).checksum == checksum, reader.text() == key,
            let count = reader.count()
        else { return nil }
        var responses: [CachedResponse] = []
        for _ in 0..<count {
            guard let status = reader.count(), let requested = reader.date(), let received = reader.date(), let fields = reader.fields(),
                let selecting = reader.fields(), let body = reader.bytes()
            else { return nil }
            responses.append(
                CachedResponse(
                    status: status, fields: fields, body: body, requested: requested, received: received, selectingFields: selecting))
        }
        return responses
    }

    private struct Writer {
        var data = Data()

        mutating func write(number: UInt64) { withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) } }
        mutating func write(_ count: Int) { write(number: UInt64(count)) }
        mutating func write(_ date: Date) { write(number: date.timeIntervalSince1970.bitPattern) }
        mutating func write(_ text: String) { write(Data(text.utf8)) }
        mutating func write(_ bytes: Data) {
            write(bytes.count)
            data.append(bytes)
        }
    }

    /// Reads what may be cut at any place.
    private struct Reader {
        private let data: Data
        private var position: Int

        init(_ data: Data) { (self.data, position) = (data, data.startIndex) }

        mutating func number() -> UInt64? {
            guard data.endIndex - position >= 8 else { return nil }
            defer { position += 8 }
            return data.withUnsafeBytes {
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: position - data.startIndex, as: UInt64.self))
            }
        }

        mutating func count() -> Int? { number().flatMap { Int(exactly: $0) } }

        mutating func date() -> Date? {
            number().map { TimeInterval(bitPattern: $0) }.flatMap { $0.isFinite ? Date(timeIntervalSince1970: $0) : nil }
        }

        mutating func bytes() -> Data? {
            guard let count = count(), count <= data.endIndex - position else { return nil }
            defer { position += count }
            return data.subdata(in: position..<position + count)
        }

        mutating func text() -> String? { bytes().map { String(decoding: $0, as: UTF8.self) } }

        mutating func fields() -> [String: String]? {
            guard let count = count(), count <= data.count else { return nil }
            var fields: [String: String] = [:]
            for _ in 0..<count {
                guard let name = text(), let value = text() else { return nil }
                fields[name] = value
            }
            return fields
        }
    }
}

extension Data {
    /// FNV-1a of 64 bits, eight bytes at a time: it tells bytes from other bytes, and not by whom they were made.
    var checksum: UInt64 {
        withUnsafeBytes { bytes in
            var sum: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
            func add(_ word: UInt64) {
                sum = (sum ^ word) &* 0x100_0000_01b3
                // What has come to the top goes on to the bottom.
                sum ^= sum >> 32
            }
            let whole = bytes.count / 8 * 8
            for offset in stride(from: 0, to: whole, by: 8) {
                add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
            for byte in bytes[whole...] { add(UInt64(byte)) }
            return sum
        }
    }
}
