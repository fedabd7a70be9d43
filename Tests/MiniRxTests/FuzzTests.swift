import Dispatch
import Foundation
import MiniRx
import TestSupport
import Testing

/// Random forests that two or three threads drive at once keep the contract, whatever comes first.
@Suite("Fuzz", tenMinutes, .longComputing)
struct FuzzTests {
    /// A million by hand: `TEST_EFFORT=5000 swift test -c release --filter FuzzTests`.
    @Test("Random forests that several threads drive: at most one event, one onDisposed, every release, and nothing is kept")
    func threads() async {
        let queue = DispatchQueue(label: "fuzz", attributes: .concurrent)
        for seed in 0..<UInt64(rounds(200)) {
            var random = SeededGenerator(seed: seed)
            let forest = Forest(using: &random)
            let scripts = (0..<Int.random(in: 2...3, using: &random)).map { _ in Step.script(upTo: 8, using: &random) }
            let reaction = [nil, Step.dispose(0), Step.random(using: &random)].randomElement(using: &random) ?? nil
            let log = Log<String>()
            weak var kept: Token?
            let real: Real
            do {
                let token = Token()
                kept = token
                real = Real(forest, reaction: reaction, token: token, log: log)
            }
            // In the other half the subscription itself is raced, too.
            if seed % 2 == 0 { real.perform(.subscribe(0)) }
            let group = DispatchGroup()
            for (index, script) in scripts.enumerated() {
                queue.async(group: group) {
                    for step in (index < 2 ? [.subscribe(index)] : []) + script { real.perform(step) }
                }
            }
            await withCheckedContinuation { continuation in group.notify(queue: queue) { continuation.resume() } }
            for index in 0...1 { real.perform(.dispose(index)) }
            real.letGo()
            let entries = log.entries
            func count(_ entry: String) -> Int { entries.count { $0 == entry } }
            for chain in 0...1 {
                let events = entries.filter { $0.hasPrefix("\(chain) ") }
                let isEnded = events.last == "\(chain) disposed" && count("\(chain) disposed") == 1
                #expect(isEnded && events.count <= 2, "seed \(seed): \(entries)")
            }
            for source in 0..<Tree.sources {
                #expect(count("subscribe \(source)") == count("release \(source)"), "seed \(seed): \(entries)")
            }
            #expect(count("tap subscribed") == count("tap disposed"), "seed \(seed): \(entries)")
            #expect(kept == nil, "seed \(seed): \(entries)")
            withExtendedLifetime(real) {}
        }
    }
}
