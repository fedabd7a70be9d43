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

/// What the design asks for: at most this many nanoseconds, or this ratio.
let goals: [String: (nanoseconds: Double?, toOpenCombine: Double?, toHandWritten: Double?)] = [
    "create": (nil, 1.0 / 6, 4), "three maps": (nil, 0.25, nil), "flatMap": (nil, 1.0 / 6, nil),
    "catch": (250, nil, nil), "retry": (250, nil, nil), "zip of 2": (300, nil, nil),
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

func cell(_ value: Double?, _ format: String, goal: Double? = nil) -> String {
    guard let value else { return "" }
    let text = String(format: format, value)
    return goal.map { "\(text) (goal \(String(format: format, $0)))" } ?? text
}

func ratio(_ a: Double?, _ b: Double?, goal: Double?) -> String {
    guard let a, let b else { return "" }
    return cell(a / b, "%.2f", goal: goal)
}

print("Nanoseconds a call (median), and the ratio of MiniRx to its yardsticks in the same run.\n")
print("| chain | MiniRx | OpenCombine | hand-written | to OpenCombine | to hand-written |")
print("|---|---|---|---|---|---|")
for chain in chains.sorted() {
    let all = times[chain] ?? [:]
    let goal = goals[chain]
    let cells = [
        chain, cell(all["MiniRx"], "%.0f", goal: goal?.nanoseconds), cell(all["OpenCombine"], "%.0f"), cell(all["hand-written"], "%.0f"),
        ratio(all["MiniRx"], all["OpenCombine"], goal: goal?.toOpenCombine),
        ratio(all["MiniRx"], times["create"]?["hand-written"], goal: goal?.toHandWritten),
    ]
    print("| \(cells.joined(separator: " | ")) |")
}
