// Reads what the benchmark harness has exported in the format of JMH, and prints how each module stands to its yardsticks as a table.

import Foundation

struct Entry: Decodable {
    struct Metrics: Decodable {
        let wallClock: WallClock
        enum CodingKeys: String, CodingKey { case wallClock = "Time (wall clock)" }
    }
    /// Of a run, in microseconds.
    struct WallClock: Decodable {
        let scorePercentiles: [String: Double]
    }
    let benchmark: String
    let secondaryMetrics: Metrics
}

/// Work that several libraries do, in the unit and with the yardsticks of its table.
struct Table {
    let title: String
    let callsPerRun: Double
    let unit: Double
    let library: String
    let yardsticks: [String]
    /// What the design asks for: at most this much, or this ratio to the first yardstick, and to the second.
    let goals: [String: [Double?]]
}

let tables = [
    "MiniRxBenchmarks": Table(
        title: "Nanoseconds a call (median), and the ratio of MiniRx to its yardsticks in the same run.", callsPerRun: 1000, unit: 1e3,
        library: "MiniRx", yardsticks: ["OpenCombine", "hand-written"],
        goals: [
            "create": [nil, 0.5], "three maps": [nil, 0.5], "flatMap": [nil, 0.5], "zip of 2 creates": [nil, 0.7],
            "zip of 8 creates": [10_000],
        ]),
    "APIProviderBenchmarks": Table(
        title: "Microseconds a request (median), and the ratio to bare URLSession in the same run.", callsPerRun: 100, unit: 1,
        library: "APIProvider", yardsticks: ["URLSession"],
        goals: ["2 KB, one at a time": [nil, 1.1], "2 KB, 100 at a time": [nil, 1], "100 KB, 100 at a time": [nil, 0.6]]),
    "APIProviderMocksBenchmarks": Table(
        title: "Microseconds a request, or a scope (median), and the ratio to the smallest URLProtocol in the same run.", callsPerRun: 100,
        unit: 1, library: "APIProviderMocks", yardsticks: ["URLProtocol"],
        goals: [
            "a stub": [nil, 1.15], "the last of 20 stubs": [nil, 1.15], "through the provider and MockTransport": [nil, 0.25],
            "a scope": [20],
        ]),
    "StreamBenchmarks": Table(
        title: "Nanoseconds an event (median), and the ratio to decoding its data in the same run.", callsPerRun: 1000, unit: 1e3,
        library: "APIProvider", yardsticks: ["JSONDecoder"],
        goals: ["an event with a text of 50 bytes": [nil, 0.25], "an event with a text of 500 bytes": [nil, 0.25]]),
]

guard let path = CommandLine.arguments.dropFirst().first else {
    FileHandle.standardError.write(Data("usage: ratios FILE.json\n".utf8))
    exit(64)
}
let entries = try JSONDecoder().decode([Entry].self, from: Data(contentsOf: URL(fileURLWithPath: path)))

/// By the table, the work and the library.
var times: [String: [String: [String: Double]]] = [:]
for entry in entries {
    let path = entry.benchmark.split(separator: ".").map { $0.replacingOccurrences(of: "_", with: " ") }
    guard path.count >= 2, let table = tables[path[path.count - 2]], let median = entry.secondaryMetrics.wallClock.scorePercentiles["50.0"],
        let comma = path[path.count - 1].range(of: ", ", options: .backwards)
    else { continue }
    let (work, library) = (String(path[path.count - 1][..<comma.lowerBound]), String(path[path.count - 1][comma.upperBound...]))
    times[path[path.count - 2], default: [:]][work, default: [:]][library] = median * table.unit / table.callsPerRun
}

func cell(_ value: Double?, _ format: String, goal: Double? = nil) -> String {
    guard let value else { return "" }
    let text = String(format: format, value)
    return goal.map { "\(text) (goal \(String(format: format, $0)))" } ?? text
}

for (name, table) in tables.sorted(by: { $0.key > $1.key }) {
    guard let rows = times[name] else { continue }
    let columns = ["work", table.library] + table.yardsticks + table.yardsticks.map { "to \($0)" }
    print("\(table.title)\n\n| \(columns.joined(separator: " | ")) |\n|\(String(repeating: "---|", count: columns.count))")
    for (work, times) in rows.sorted(by: { $0.key < $1.key }) {
        let goals = (table.goals[work] ?? []) + [nil, nil, nil, nil]
        let own = times[table.library]
        let ratios = table.yardsticks.enumerated().map { index, yardstick in
            cell(own.flatMap { own in times[yardstick].map { own / $0 } }, "%.2f", goal: goals[index + 1])
        }
        let cells = [work, cell(own, "%.0f", goal: goals[0])] + table.yardsticks.map { cell(times[$0], "%.0f") } + ratios
        print("| \(cells.joined(separator: " | ")) |")
    }
    print()
}
