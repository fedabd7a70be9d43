// Reads what the benchmark harness has exported in the format of JMH, and prints how MiniRx stands to its yardsticks as a table.

import Foundation

struct Entry: Decodable {
    struct Metric: Decodable {
        /// Runs a second, of 1,000 calls each.
        let scorePercentiles: [String: Double]
    }
    let benchmark: String
    let primaryMetric: Metric
}

/// What the design asks for: at most this ratio.
let goals: [String: (openCombine: Double?, handWritten: Double?)] = [
    "create": (1.0 / 6, 4), "three maps": (0.25, nil), "flatMap": (1.0 / 6, nil),
]

guard let path = CommandLine.arguments.dropFirst().first else {
    FileHandle.standardError.write(Data("usage: ratios FILE.json\n".utf8))
    exit(64)
}
let entries = try JSONDecoder().decode([Entry].self, from: Data(contentsOf: URL(fileURLWithPath: path)))

var times: [String: [String: Double]] = [:]
var chains: [String] = []
for entry in entries {
    let name = (entry.benchmark.split(separator: ".").last ?? "").replacingOccurrences(of: "_", with: " ")
    let parts = name.components(separatedBy: ", ")
    guard parts.count == 2, let median = entry.primaryMetric.scorePercentiles["50.0"],
        median > 0
    else { continue }
    if times[parts[0]] == nil { chains.append(parts[0]) }
    times[parts[0], default: [:]][parts[1]] = 1e9 / (median * 1000)
}

func ratio(_ a: Double?, _ b: Double?, goal: Double?) -> String {
    guard let a, let b, b > 0 else { return "" }
    let text = String(format: "%.2f", a / b)
    return goal.map { "\(text) (goal \(String(format: "%.2f", $0)))" } ?? text
}

print("Nanoseconds a call (median), and the ratio of MiniRx to its yardsticks in the same run.\n")
print("| chain | MiniRx | OpenCombine | hand-written | to OpenCombine | to hand-written |")
print("|---|---|---|---|---|---|")
for chain in chains.sorted() {
    let all = times[chain] ?? [:]
    let cells = ["MiniRx", "OpenCombine", "hand-written"].map { all[$0].map { String(format: "%.0f", $0) } ?? "" }
    let byHand = times["create"]?["hand-written"]
    print(
        "| \(chain) | \(cells.joined(separator: " | "))"
            + " | \(ratio(all["MiniRx"], all["OpenCombine"], goal: goals[chain]?.openCombine))"
            + " | \(ratio(all["MiniRx"], byHand, goal: goals[chain]?.handWritten)) |")
}
