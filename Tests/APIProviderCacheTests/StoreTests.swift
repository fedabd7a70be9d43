import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderCache

private let time = Date(timeIntervalSince1970: 1_700_000_000)

private func response(_ text: String) -> CachedResponse {
    CachedResponse(
        statusCode: 200, headers: ["ETag": "\"é\"", "X": ""], data: Data(text.utf8), requestTime: time, responseTime: time,
        varyValues: ["accept": String(text.prefix(20))])
}

@Suite("Stores of the cache", tenMinutes)
struct StoreTests {
    private let folder = TemporaryFolder()

    private func stores(_ maximum: Int = 1_000_000) -> [any CacheStore] {
        [MemoryCache(maxBytes: maximum), DiskCache(folder.url("cache"), maxBytes: maximum)]
    }

    @Test("Responses are returned unchanged, replaced and removed")
    func round() throws {
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
            #expect(try store is MemoryCache || files().count == 1)
            store.removeAll()
            #expect(store.responses(for: "b") == [])
        }
    }

    @Test("A response that does not fit with its fields removes the old one, and the last responses of a key that fit are stored")
    func limits() {
        for store in stores(100_000) {
            store.replace([response("1")], for: "a")
            store.replace([response(String(repeating: "x", count: 100_000))], for: "a")
            #expect(store.responses(for: "a") == [])
            let all = ["1", "2", "3"].map { response(String(repeating: $0, count: 40_000)) }
            store.replace(all, for: "a")
            #expect(store.responses(for: "a") == Array(all.suffix(2)))
            store.replace([response(String(repeating: "x", count: 95_000))], for: "large")
            #expect(store.responses(for: "large").count == 1)
            let fields = Dictionary(uniqueKeysWithValues: (0..<1_500).map { ("\($0)", "") })
            store.replace(
                [CachedResponse(statusCode: 200, headers: [:], data: Data(), requestTime: time, responseTime: time, varyValues: fields)],
                for: "large")
            #expect(store.responses(for: "large") == [])
        }
    }

    @Test("In memory, the least recently used responses are removed first, as in a simple list", arguments: [UInt64(1), 2, 3])
    func leastRecentlyUsed(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let cache = MemoryCache(maxBytes: 3_000)
        var model: [(key: String, value: CachedResponse)] = []
        for step in 0..<2_000 {
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

    @Test("In memory, there are 20 MB unless the app says otherwise")
    func defaultSize() {
        let store = CacheMiddleware.Storage.memory().makeStore().0
        let body = Data(count: 12_000_000)
        let large = CachedResponse(statusCode: 200, headers: [:], data: body, requestTime: time, responseTime: time)
        for key in ["a", "b"] { store.replace([large], for: key) }
        #expect(store.responses(for: "a").isEmpty && store.responses(for: "b").count == 1)
    }

    @Test("On disk, old files are removed until a tenth is free, and each file counts as whole blocks")
    func eviction() throws {
        let cache = DiskCache(folder.url("cache"), maxBytes: 100_000)
        let counts = try (0..<100).map { number in
            cache.replace([response(String(repeating: "x", count: 800))], for: "key\(number)")
            return try files().count
        }
        // 24 blocks of 4,096 bytes fit, and 21 of them in nine tenths.
        #expect(counts.max() == 24)
        #expect(Set(zip(counts, counts.dropFirst()).filter { $0 > $1 }.map(\.1)) == [21])
        #expect(cache.responses(for: "key99") != [])
    }

    @Test("On disk, storing the same keys again or removing them counts no other file, however full the folder is")
    func fullFolder() throws {
        let caches = [100_000, 1_000_000].map { DiskCache(folder.url("cache"), maxBytes: $0) }
        for number in 0..<24 { caches[0].replace([response("1")], for: "key\(number)") }
        // What another cache stores counts when this one counts all files. Then it removes the oldest.
        for number in 0..<10 { caches[1].replace([response("1")], for: "other\(number)") }
        for number in 0..<100 {
            if number.isMultiple(of: 2) { caches[0].replace([], for: "key\(number % 24)") }
            caches[0].replace([response("2")], for: "key\(number % 24)")
        }
        #expect(try files().count == 34)
        caches[0].replace([response("1")], for: "new")
        #expect(try files().count == 21)
    }

    @Test("On disk, a file that takes all blocks fits, and a larger one does not", arguments: [(3_000, true), (5_000, false)])
    func wholeBlocks(count: Int, fits: Bool) {
        let cache = DiskCache(folder.url("cache"), maxBytes: 4_096)
        let responses = [response(String(repeating: "x", count: count))]
        cache.replace(responses, for: "a")
        #expect(cache.responses(for: "a") == (fits ? responses : []))
    }

    @Test("On disk, files that take all blocks together stay, also when the next process counts them")
    func allBlocks() throws {
        for _ in 0..<2 {
            let cache = DiskCache(folder.url("cache"), maxBytes: 8_192)
            for key in ["a", "b"] { cache.replace([response("1")], for: key) }
            #expect(try files().count == 2)
        }
    }

    @Test("On disk, reading a file counts as a use")
    func readingIsUse() throws {
        let cache = DiskCache(folder.url("cache"), maxBytes: 100_000)
        let text = String(repeating: "x", count: 40_000)
        for (key, age) in [("a", 7_200.0), ("b", 3_600)] {
            let others = try? files()
            cache.replace([response(text)], for: key)
            let file = try #require(try files().first { others?.contains($0) != true })
            try FileManager.default.setAttributes([.modificationDate: Date() - age], ofItemAtPath: file.path)
        }
        #expect(cache.responses(for: "a") != [])
        cache.replace([response(text)], for: "c")
        #expect(cache.responses(for: "a") != [] && cache.responses(for: "b") == [] && cache.responses(for: "c") != [])
    }

    @Test("Only their owner may access files, and the folder is created with the first of them")
    func mode() throws {
        _ = DiskCache(folder.url("cache"))
        #expect(!FileManager.default.fileExists(atPath: folder.url("cache").path))
        let file = try storedFile().1
        #expect(try mode(of: file) == 0o600)
        #expect(try mode(of: file.deletingLastPathComponent()) == 0o700)
        #expect(try mode(of: folder.url("cache")) == 0o700)
    }

    @Test("Files of a folder that others may write are not used")
    func openFolder() throws {
        try FileManager.default.createDirectory(at: folder.url("cache"), withIntermediateDirectories: true)
        for _ in 0..<2 {
            chmod(folder.url("cache").path, 0o777)
            let (cache, file) = try storedFile()
            #expect(cache.responses(for: "a") == [response("1")])
            #expect(try mode(of: file.deletingLastPathComponent()) == 0o700)
            // As another process may do meanwhile.
            chmod(file.deletingLastPathComponent().path, 0o777)
            chmod(file.path, 0o666)
            #expect(cache.responses(for: "a") == [])
        }
    }

    @Test("Files and folders of another user are not used", .enabled(if: geteuid() == 0, "Only root can give files away."))
    func anotherUser() throws {
        let (cache, file) = try storedFile()
        try #require(chown(file.path, 12_345, 12_345) == 0)
        #expect(cache.responses(for: "a") == [])
        try #require(chown(file.deletingLastPathComponent().path, 12_345, 12_345) == 0)
        cache.replace([response("2")], for: "b")
        #expect(cache.responses(for: "b") == [])
    }

    @Test("A link is neither read nor written through")
    func link() throws {
        let (cache, file) = try storedFile()
        try FileManager.default.moveItem(at: file, to: folder.url("other"))
        let old = try Data(contentsOf: folder.url("other"))
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: folder.url("other"))
        #expect(cache.responses(for: "a") == [])
        cache.replace([response("2")], for: "a")
        #expect(try Data(contentsOf: folder.url("other")) == old)
        #expect(cache.responses(for: "a") == [response("2")])
    }

    @Test("A pipe in the place of a file does not block")
    func pipe() async throws {
        let (cache, file) = try storedFile()
        try FileManager.default.removeItem(at: file)
        mkfifo(file.path, 0o600)
        let read = Locked<[CachedResponse]?>(nil)
        Thread.detachNewThread {
            let responses = cache.responses(for: "a")
            read.withLock { $0 = responses }
        }
        #expect(await eventually { read.withLock { $0 } == [] })
        // Ends a thread that waits nevertheless.
        close(open(file.path, O_RDWR | O_NONBLOCK))
    }

    @Test("removeAll takes the same time for any number of files, and all are deleted later")
    func removal() async throws {
        let cache = DiskCache(folder.url("cache"))
        func seconds(_ count: Int) -> Double {
            for number in 0..<count { cache.replace([response("\(number)")], for: "key\(number)") }
            return cpuSeconds { cache.removeAll() }
        }
        #expect((0..<3).contains { _ in seconds(400) < 10 * seconds(20) })
        #expect(cache.responses(for: "key1") == [])
        #expect(try await eventually { try FileManager.default.contentsOfDirectory(atPath: folder.url("cache").path) == [] })
    }

    @Test("The time to store a response does not depend on the number of files")
    func storing() {
        func seconds(_ count: Int) -> Double {
            let (folder, text) = (TemporaryFolder(), [response("1")])
            let cache = DiskCache(folder.url("cache"))
            cache.replace(text, for: "a")
            // Counting the bytes of so many files takes some fifty times as long as storing one.
            for number in 0..<count { close(open(folder.url("cache/responses/\(number).response").path, O_CREAT | O_WRONLY, 0o600)) }
            return cpuSeconds { for number in 0..<20 { cache.replace(text, for: "key\(number)") } }
        }
        #expect((0..<3).contains { _ in seconds(2_000) < 15 * seconds(0) })
    }

    @Test("Files that a killed process was deleting are deleted when another stores a response")
    func leftOver() async throws {
        let used = try storedFile().1.deletingLastPathComponent()
        try FileManager.default.moveItem(at: used, to: folder.url("cache").appendingPathComponent("\(UUID()).removed"))
        DiskCache(folder.url("cache")).replace([response("2")], for: "b")
        let names = [used.lastPathComponent]
        #expect(try await eventually { try FileManager.default.contentsOfDirectory(atPath: folder.url("cache").path) == names })
    }

    /// A cache on disk that has stored a response for the key "a", and its file.
    private func storedFile(_ text: String = "1") throws -> (DiskCache, URL) {
        let cache = DiskCache(folder.url("cache"))
        cache.replace([response(text)], for: "a")
        return (cache, try #require(try files().first))
    }

    private func mode(of url: URL) throws -> Int? { try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int }

    private func files() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: folder.url("cache").appendingPathComponent("responses"), includingPropertiesForKeys: nil)
    }

    /// Changes the property list in a file.
    private func rewrite(_ file: URL, _ change: (inout [String: Any]) -> Void) throws {
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        var fields = try #require(list as? [String: Any])
        change(&fields)
        try PropertyListSerialization.data(fromPropertyList: fields, format: .binary, options: 0).write(to: file)
    }

    @Test("A truncated file, a longer one, and a file of another version or key are ignored")
    func damaged() throws {
        let (cache, file) = try storedFile("some text")
        let whole = try Data(contentsOf: file)
        for data in (0..<whole.count).map({ whole.prefix($0) }) + [whole + [0]] {
            try data.write(to: file)
            #expect(cache.responses(for: "a") == [], "\(data.count) of \(whole.count) bytes")
        }
        let changes: [(inout [String: Any]) -> Void] = [{ $0["version"] = 2 }, { $0["key"] = "b" }, { _ in }]
        for (change, expected) in zip(changes, [[], [], [response("some text")]]) {
            try whole.write(to: file)
            try rewrite(file, change)
            #expect(cache.responses(for: "a") == expected)
        }
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        cache.replace([response("1")], for: "a")
        #expect(cache.responses(for: "a") == [])
    }

    @Test("Random bytes are read without a trap", arguments: [UInt64(1), 2])
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let whole = try #require(CacheFile.data(of: [response("some text"), response("more")], for: "a"))
        for _ in 0..<rounds(300) {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = [0, 0xFF, 0x7F, 0x80, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
            }
            for response in CacheFile.responses(in: bytes, for: "a") ?? [] {
                _ = response.response(to: PreparedRequest(.get, example), at: Date(), cacheStatus: "hit")
            }
        }
    }

    @Test("Absurd times are read without a trap", arguments: [1e300, -1e300, 1.7e308, 9e18, .infinity, -.infinity, .nan])
    func absurdTimes(time: TimeInterval) throws {
        let date = Date(timeIntervalSinceReferenceDate: time)
        let headers = ["Date": "Sunday, 06-Nov-94 08:49:37 GMT", "Expires": "Sunday, 06-Nov-94 08:49:37 GMT"]
        let stored = CachedResponse(statusCode: 200, headers: HTTPHeaders(headers), data: Data(), requestTime: date, responseTime: date)
        let (cache, file) = try storedFile()
        try rewrite(file) { list in
            let responses = list["responses"] as? [[String: Any]] ?? []
            list["responses"] = responses.map { $0.merging(["requestTime": date, "responseTime": date, "headers": headers]) { $1 } }
        }
        for read in cache.responses(for: "a") + [stored] {
            #expect(read.remainingFreshness(at: Date()) <= 0)
            #expect(read.response(to: PreparedRequest(.get, example), at: Date(), cacheStatus: "hit") != nil)
        }
    }

    @Test("The fields of a hostile response are read in linear time")
    func manyFields() throws {
        #expect(
            isLinear(500) { count in
                var fields = Dictionary(uniqueKeysWithValues: (0..<count).map { ("X-Field-\($0)", "1") })
                fields["Connection"] = (0..<count).map { "y-\($0)" }.joined(separator: ", ")
                let head = HTTPURLResponse(url: example, statusCode: 200, httpVersion: nil, headerFields: fields)
                guard let head else { return 0 }
                let response = APIResponse(request: PreparedRequest(.get, example), httpResponse: head, data: Data())
                return cpuSeconds {
                    let stored = CachedResponse(response, requestTime: Date(), responseTime: Date())
                    _ = stored.updated(by: response, requestTime: Date(), responseTime: Date())
                }
            })
    }

    @Test("A deleted folder is created again with its parents, and nothing is stored if that fails")
    func folderGone() throws {
        let cache = DiskCache(folder.url("parent/cache"))
        cache.replace([response("1")], for: "a")
        #expect(cache.responses(for: "a") == [response("1")])
        try FileManager.default.removeItem(at: folder.url("parent"))
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
    @Test("removeAll leaves nothing to read, even if the folder cannot be renamed")
    func removalFaults() async {
        let count = await Faults.inTurn { faults in
            let cache = DiskCache(folder.url("cache"))
            cache.replace([response("1")], for: "a")
            _ = await FaultyFiles.within(folder.url("cache"), faults) { () async in cache.removeAll() }
            #expect(cache.responses(for: "a") == [])
        }
        #expect(count > 0)
    }

    @Test("If any file operation fails, no file is left open or half written", arguments: [false, true])
    func faults(isLasting: Bool) async throws {
        let count = await Faults.inTurn(isLasting: isLasting) { faults in
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
            let names = (try? files().map(\.lastPathComponent)) ?? []
            #expect(names.allSatisfy { $0.hasSuffix(".response") }, "\(names)")
        }
        #expect(count > 3)
    }
    #endif

    @Test("Stores that share a folder only read complete responses")
    func shared() async {
        let (folder, wrong) = (folder.url("cache"), Log<String>())
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let cache = DiskCache(folder, maxBytes: 40_000)
                    var random = SeededGenerator(seed: UInt64(writer))
                    for step in 0..<rounds(100) {
                        let key = "key\(Int.random(in: 0..<8, using: &random))"
                        if Bool.random(using: &random) {
                            cache.replace(
                                [response(String(repeating: "\(key) ", count: Int.random(in: 1...500, using: &random)))], for: key)
                        } else {
                            for found in cache.responses(for: key) {
                                let words = Set(String(decoding: found.data, as: UTF8.self).split(separator: " "))
                                if words != [key[...]] { wrong.append("\(key) has \(words)") }
                            }
                        }
                        if step % 50 == 49 { cache.removeAll() }
                    }
                }
            }
        }
        #expect(wrong.entries == [])
    }
}
