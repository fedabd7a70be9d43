import Foundation
import TestSupport
import Testing

/// Random trees of operators, driven by random steps, do what a model does that is simple enough to be obviously right.
@Suite("Model", tenMinutes)
struct ModelTests {
    /// A million by hand: `TEST_EFFORT=500 swift test -c release --filter ModelTests`.
    @Test("Random forests do what the model does, step by step", .longComputing)
    func trees() async {
        for seed in 0..<UInt64(rounds(2_000)) {
            // Other tests want the thread, too.
            if seed % 64 == 0 { await Task.yield() }
            var random = SeededGenerator(seed: seed)
            let forest = Forest(using: &random)
            let script = Step.script(upTo: 10, using: &random)
            let reaction = [nil, nil, Step.dispose(0), Step.random(using: &random)].randomElement(using: &random) ?? nil
            let real = Real(forest, reaction: reaction)
            let model = Model(forest, reaction: reaction)
            for (index, step) in ([.subscribe(0)] + script + [.subscribe(1), .dispose(0), .dispose(1)]).enumerated() {
                real.perform(step)
                model.perform(step)
                guard agree(real.log.entries, model.log.entries, forest) else {
                    Issue.record(
                        """
                        Seed \(seed), after step \(index), \(step), of \(script) with reaction \(String(describing: reaction)):
                        forest: \(forest)
                        model:  \(model.log.entries)
                        real:   \(real.log.entries)
                        """)
                    return
                }
            }
            real.letGo()
            #expect(real.log.entries.count { $0.hasSuffix(" disposed") && !$0.hasPrefix("tap") } == 2, "seed \(seed)")
        }
    }
}

#if compiler(>=6.2) && os(Linux)
extension ModelTests {
    @Test("Random forests leave no bytes behind")
    func bytes() async {
        await #expect(processExitsWith: .success) {
            // Thread Sanitizer uses memory for each access.
            guard dlsym(nil, "__tsan_init") == nil else { return }
            let isFlat = try isFlat(within: 2_000) {
                // 200 bytes for each of 10,000 runs.
                for seed in (0..<20).flatMap({ _ in 0..<500 as Range<UInt64> }) {
                    var random = SeededGenerator(seed: seed)
                    let forest = Forest(using: &random)
                    let script = Step.script(upTo: 10, using: &random)
                    let real = Real(forest, reaction: script.first)
                    for step in [.subscribe(0)] + script + [.subscribe(1), .dispose(0), .dispose(1)] { real.perform(step) }
                    real.letGo()
                }
            }
            #expect(isFlat)
        }
    }
}
#endif

/// Chains that share a source, and their branches, end and go on in any order among themselves.
private func agree(_ real: [String], _ model: [String], _ forest: Forest) -> Bool {
    guard real != model else { return true }
    let isEnd = { (entry: String) in ["0 disposed", "1 disposed", "tap disposed"].contains(entry) }
    // Subscriptions that directly follow each other are sorted. All other entries keep their places.
    let rest = { (entries: [String]) in
        entries.filter { !isEnd($0) }.reduce(into: [[String]]()) { runs, entry in
            if entry.hasPrefix("subscribe "), runs.last?.last?.hasPrefix("subscribe ") == true {
                runs[runs.count - 1].append(entry)
            } else {
                runs.append([entry])
            }
        }.map { $0.sorted() }
    }
    return "\(forest.chains)".contains("shared(") && rest(real) == rest(model)
        && real.filter(isEnd).sorted() == model.filter(isEnd).sorted()
}
