import Foundation
import TestSupport
import Testing

@testable import MockNetworkRecordings

@Suite("Broken recordings", tenMinutes, .longComputing)
struct ReplayFuzzTests {
    @Test("Any file is an error with one sentence, or is replayed", arguments: ["chrome", "firefox", "safari", "charles", "insomnia"])
    func fuzz(name: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let sample = try #require(Bundle.module.url(forResource: name, withExtension: "har", subdirectory: "HAR"))
        let bytes = [UInt8](try Data(contentsOf: sample))
        var replayed = 0
        for _ in 0..<rounds(40) {
            var broken = bytes
            for _ in 0..<Int.random(in: 0...3, using: &random) where !broken.isEmpty {
                let place = Int.random(in: 0..<broken.count, using: &random)
                switch Int.random(in: 0...4, using: &random) {
                case 0: broken[place] = UInt8.random(in: 0...255, using: &random)
                case 1: broken.removeSubrange(place..<min(broken.count, place + 20))
                case 2: broken[place] = Array("{}[]\",:0\\".utf8).randomElement(using: &random) ?? 0
                case 3: broken.removeSubrange(place...)
                default: broken.insert(contentsOf: Array("\"\\ud800\"".utf8), at: place)
                }
            }
            do {
                let file = try RecordedFile(Data(broken), name: "session.har")
                var replay = Replay(file)
                for entry in file.entries {
                    guard case .success(let index) = replay.entry(for: entry.exchange), let response = file.entries[index].exchange.response
                    else { continue }
                    _ = ReplayedResponse(response, file.placeholders, replay.bindings, movedBy: 100)
                    replayed += 1
                }
            } catch {
                #expect("\(error)".hasPrefix("session.har") && "\(error)".hasSuffix("."), "seed \(seed): \(error)")
            }
        }
        #expect(replayed > 2, "seed \(seed): hardly anything was replayed")
    }
}
