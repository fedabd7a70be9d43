import Foundation
import MiniRx
import ResponseCache
import TestSupport
import Testing

@testable import ResponseCache

private func response(_ text: String) -> CachedResponse {
    let time = Date(timeIntervalSince1970: 1_700_000_000)
    return CachedResponse(
        status: 200, fields: ["ETag": "\"é\"", "X": ""], body: Data(text.utf8), requested: time, received: time,
        selectingFields: ["accept": text])
}

@Suite("Stores of the cache", tenMinutes)
struct StoreTests {
    private let folder = TemporaryFolder()

    private func stores(_ maximum: Int = 1_000_000) -> [any CacheStore] {
        [MemoryCache(maximumBytes: maximum), DiskCache(folder.url("cache"), maximumBytes: maximum)]
    }

    @Test("What is stored comes back, also after another; none and all are forgotten")
    func round() {
        for store in stores() {
            #expect(store.responses(for: "a") == [])
            store.replace([response("1"), response("2")], for: "a")
            store.replace([response("3")], for: "b")
            #expect(store.responses(for: "a") == [response("1"), response("2")])
            store.replace([response("")], for: "a")
            #expect(store.responses(for: "a") == [response("")])
            store.replace([], for: "a")
            #expect(store.responses(for: "a") == [])
            #expect(store.responses(for: "b") == [response("3")])
            store.removeAll()
            #expect(store.responses(for: "b") == [])
        }
    }

    @Test("A response that is larger than the whole store is not kept, nor the one before")
    func tooLarge() {
        for store in stores(2_000) {
            store.replace([response("1")], for: "a")
            store.replace([response(String(repeating: "x", count: 2_000))], for: "a")
            #expect(store.responses(for: "a") == [])
        }
    }

    @Test("In memory, those that were not used for longest go first, as in a simple list", arguments: [UInt64(1), 2, 3])
    func leastRecentlyUsed(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let cache = MemoryCache(maximumBytes: 3_000)
        var model: [(key: String, value: CachedResponse)] = []
        for step in 0..<5_000 {
            let key = "key\(Int.random(in: 0..<20, using: &random))"
            let index = model.firstIndex { $0.key == key }
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                #expect(cache.responses(for: key) == (index.map { [model[$0].value] } ?? []), "seed \(seed), step \(step)")
                if let index { model.append(model.remove(at: index)) }
            case 2, 3:
                let value = response(String(repeating: "x", count: Int.random(in: 0..<400, using: &random)))
                cache.replace([value], for: key)
                if let index { model.remove(at: index) }
                let room = 3_000 - key.utf8.count - value.size
                func size() -> Int { model.reduce(0) { $0 + $1.key.utf8.count + $1.value.size } }
                if size() > room { while size() > room / 10 * 9 { model.removeFirst() } }
                model.append((key, value))
            default:
                cache.replace([], for: key)
                if let index { model.remove(at: index) }
            }
            #expect(cache.size == model.reduce(0) { $0 + $1.key.utf8.count + $1.value.size })
        }
    }

    @Test("On disk, old files go when there is no room, and a tenth is free then")
    func eviction() throws {
        let cache = DiskCache(folder.url("cache"), maximumBytes: 10_000)
        for number in 0..<100 { cache.replace([response(String(repeating: "x", count: 800))], for: "key\(number)") }
        let sizes = try files().map { try #require(try FileManager.default.attributesOfItem(atPath: $0.path)[.size] as? Int) }
        #expect(sizes.reduce(0, +) <= 10_000)
        #expect(sizes.count >= 5)
        #expect(cache.responses(for: "key99") != [])
    }

    @Test("Files are for their owner alone, and there is none for what is not stored")
    func mode() throws {
        let cache = DiskCache(folder.url("cache"))
        #expect(!FileManager.default.fileExists(atPath: folder.url("cache").path))
        cache.replace([response("1")], for: "a")
        let file = try #require(try files().first)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.attributesOfItem(atPath: folder.url("cache").path)[.posixPermissions] as? Int == 0o700)
    }

    private func files() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder.url("cache"), includingPropertiesForKeys: nil)
    }

    @Test("A file that is cut at any byte, longer, changed at any byte, of another version or another key's counts as none")
    func damaged() throws {
        let cache = DiskCache(folder.url("cache"))
        cache.replace([response("some text")], for: "a")
        let file = try #require(try files().first)
        let whole = try Data(contentsOf: file)
        for count in 0..<whole.count {
            try whole.prefix(count).write(to: file)
            #expect(cache.responses(for: "a") == [], "cut at \(count)")
            var changed = whole
            changed[count] ^= 0x20
            try changed.write(to: file)
            #expect(cache.responses(for: "a") == [], "changed at \(count)")
        }
        try (whole + [0]).write(to: file)
        #expect(cache.responses(for: "a") == [])
        try (CacheFile.data(of: [response("b")], for: "b")).write(to: file)
        #expect(cache.responses(for: "a") == [])
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        #expect(cache.responses(for: "a") == [])
        cache.replace([response("1")], for: "a")
        #expect(cache.responses(for: "a") == [])
    }

    @Test("Bytes at random with a right checksum are read without a trap", arguments: [UInt64(1), 2])
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let whole = CacheFile.data(of: [response("some text"), response("more")], for: "a")
        for _ in 0..<rounds(2_000) {
            var rest = Data(whole.dropFirst(16))
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: 0..<rest.count, using: &random)
                rest[place] = [0, 0xFF, 0x7F, 0x80, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
            }
            rest = rest.prefix(Int.random(in: 0...rest.count, using: &random))
            let checksum = withUnsafeBytes(of: Data(rest).checksum.littleEndian) { Data($0) }
            _ = CacheFile.responses(in: whole.prefix(8) + checksum + rest, for: "a")
        }
    }

    @Test("A folder that is gone is made again, and one that cannot be keeps nothing")
    func folderGone() throws {
        let cache = DiskCache(folder.url("cache"))
        cache.replace([response("1")], for: "a")
        try FileManager.default.removeItem(at: folder.url("cache"))
        #expect(cache.responses(for: "a") == [])
        cache.replace([response("2")], for: "a")
        #expect(cache.responses(for: "a") == [response("2")])
        try Data().write(to: folder.url("file"))
        let none = DiskCache(folder.url("file").appendingPathComponent("cache"))
        none.replace([response("1")], for: "a")
        #expect(none.responses(for: "a") == [])
        none.removeAll()
    }

    #if os(Linux)
    @Test("When any call on a file fails, at worst nothing is stored, and no file is left open or half written", arguments: [false, true])
    func faults(isLasting: Bool) async throws {
        let count = try await Faults.inTurn(isLasting: isLasting) { faults in
            let cache = DiskCache(folder.url("cache"))
            cache.replace([response("old")], for: "a")
            let open = await FaultyFiles.within(folder.url("cache"), faults) { () async in
                cache.replace([response("new")], for: "a")
                let stored = cache.responses(for: "a")
                #expect(stored == [] || stored == [response("new")])
            }.open
            #expect(open == 0)
            let stored = cache.responses(for: "a")
            #expect(stored == [] || stored == [response("new")])
            let names = try files().map(\.lastPathComponent)
            #expect(names.allSatisfy { $0.hasSuffix(".response") }, "\(names)")
        }
        #expect(count > 3)
    }
    #endif

    @Test("Several that share a folder never read what nobody has written")
    func shared() async {
        let (folder, wrong) = (folder.url("cache"), Log<String>())
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let cache = DiskCache(folder, maximumBytes: 40_000)
                    var random = SeededGenerator(seed: UInt64(writer))
                    for step in 0..<rounds(1_000) {
                        let key = "key\(Int.random(in: 0..<8, using: &random))"
                        if Bool.random(using: &random) {
                            cache.replace(
                                [response(String(repeating: "\(key) ", count: Int.random(in: 1...500, using: &random)))], for: key)
                        } else {
                            for found in cache.responses(for: key) {
                                let words = Set(String(decoding: found.body, as: UTF8.self).split(separator: " "))
                                if words != [key[...]] { wrong.append("\(key) has \(words)") }
                            }
                        }
                        if step % 100 == 99 { cache.removeAll() }
                    }
                }
            }
        }
        #expect(wrong.entries == [])
    }
}

@Suite("HTTP dates")
struct HTTPDateTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    @Test(
        "The three forms are read (RFC 9110, section 5.6.7)",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "sUN, 06 nOV 1994 08:49:37 gmt",
        ])
    func forms(text: String) { #expect(Date(httpDate: text, now: now)?.timeIntervalSince1970 == 784_111_777) }

    @Test("They are the days of Foundation's calendar")
    func days() {
        let formatter = DateFormatter()
        (formatter.locale, formatter.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(secondsFromGMT: 0))
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        for day in stride(from: -700_000, through: 2_900_000, by: 997) {
            let date = Date(timeIntervalSince1970: TimeInterval(day * 86_400 + day % 86_400))
            // Before 1582 Foundation has the Julian calendar.
            guard date > Date(timeIntervalSince1970: -12_219_292_800), date < Date(timeIntervalSince1970: 253_402_300_800) else { continue }
            #expect(Date(httpDate: formatter.string(from: date), now: now) == date, "\(formatter.string(from: date))")
        }
    }

    @Test(
        "Other text is no date",
        arguments: [
            "", "0", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 AEST", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun 06 Nov 1994 08:49:37 GMT",
            "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        ])
    func none(text: String) { #expect(Date(httpDate: text, now: now) == nil) }

    @Test("A year of two digits is at most 50 years later, and a leap second is the one before")
    func years() {
        let years = [("99", 1999), ("23", 2023), ("73", 2073), ("74", 1974)]
        for (text, year) in years {
            let date = Date(httpDate: "Friday, 01-Jan-\(text) 00:00:00 GMT", now: now)
            #expect(date == Date(httpDate: "Fri, 01 Jan \(year) 00:00:00 GMT", now: now), "\(text)")
        }
        #expect(Date(httpDate: "Sat, 31 Dec 2016 23:59:60 GMT", now: now)?.timeIntervalSince1970 == 1_483_228_799)
    }
}
