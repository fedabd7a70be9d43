import APIProvider
import Foundation
import TestSupport
import Testing

@testable import MockNetwork

@Suite("Broken recordings", tenMinutes, .longComputing)
struct ReplayFuzzTests {
    /// One request that each answers.
    private static let samples = [
        "chrome": ("GET", "https://shop.example.com/api/items?page=1&sort=price%20up", ""),
        "firefox": ("POST", "https://shop.example.com/login", "user=me&remember=1"),
        "safari": ("GET", "https://shop.example.com/status", ""),
        "charles": ("HEAD", "http://shop.example.com/file.bin", ""),
        "insomnia": ("PUT", "http://localhost:8080/v1/items/7?dry=&tag=a&tag=b", #"{"name":"x"}"#),
    ]

    @Test("Any file is an error or is replayed", arguments: samples.keys.sorted())
    func fuzz(name: String) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let sample = try #require(Bundle.module.url(forResource: name, withExtension: "har", subdirectory: "HAR"))
        let bytes = try Data(contentsOf: sample)
        let strings = strings(of: bytes)
        let (method, url, body) = try #require(Self.samples[name])
        let sent = body.isEmpty ? nil : Data(body.utf8)
        let request = try anyRequest(HTTPMethod(rawValue: method), url, body: sent).preparedRequest()
        let folder = TemporaryFolder()
        let file = folder.url("session.har")
        var replayed = 0
        for _ in 0..<rounds(60) {
            let isJSON = Bool.random(using: &random)
            try (isJSON ? random.mutate(bytes, at: strings) : random.mutate(bytes)).write(to: file)
            do {
                try await MockURLProtocol.withScope {
                    try replay(file)
                    replayed += (try? await MockTransport().send(request).value) == nil ? 0 : 1
                }
            } catch {
                let text = error.localizedDescription
                #expect(text.hasPrefix("session.har: ") && text.hasSuffix("."), "seed \(seed): \(text)")
            }
        }
        #expect(replayed > rounds(2), "seed \(seed): hardly anything was replayed")
    }

    private func strings(of bytes: Data) -> [Range<Int>] {
        var tokens = JSONTokens(bytes)
        var ranges: [Range<Int>] = []
        while let token = try? tokens.next() {
            if token.kind == .string || token.kind == .name { ranges.append(token.range) }
        }
        return ranges
    }
}

extension SeededGenerator {
    /// The bytes with some of them changed, left out, doubled or cut off; or none of them.
    fileprivate mutating func mutate(_ bytes: Data) -> Data {
        var bytes = Array(bytes)
        for _ in 0..<Int.random(in: 1...4, using: &self) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &self)
            let end = min(bytes.count, place + Int.random(in: 1...64, using: &self))
            switch Int.random(in: 0...6, using: &self) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 3: bytes.removeSubrange(place...)
            case 4: bytes[place] = Array("{}[]\",:0\\".utf8).randomElement(using: &self) ?? 0
            case 5: bytes = (0..<place % 200).map { _ in UInt8.random(in: 0...255, using: &self) }
            default: bytes = Array(repeating: UInt8(ascii: "["), count: 2_000)
            }
        }
        return Data(bytes)
    }

    /// The JSON with up to three of its strings, which may be keys, put in another's stead.
    fileprivate mutating func mutate(_ bytes: Data, at strings: [Range<Int>]) -> Data {
        var bytes = bytes
        let chosen = (0..<Int.random(in: 1...3, using: &self)).compactMap { _ in strings.randomElement(using: &self) }
        for range in Set(chosen).sorted(by: { $0.lowerBound > $1.lowerBound }) { bytes.replaceSubrange(range, with: literal()) }
        return bytes
    }

    private mutating func literal() -> Data {
        let literals = [
            "null", "true", "-1", "0", "101", "999", "1e400", "[]", "{}", "[{}]", "\"\"", "\"\\ud800\"", "\"base64\"", "\"https://\"",
            "\"http://%zz\"", "\"//a\"", "\"content-type\"", "\"\\r\\n\"", "\":\"", "\"REDACTED\"",
        ]
        let text = (try? JSONEncoder().encode(text())) ?? Data()
        return Bool.random(using: &self) ? text : Data((literals.randomElement(using: &self) ?? "").utf8)
    }
}
