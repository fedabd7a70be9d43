import APIProvider
import AsyncHTTPClient
import AsyncHTTPClientTransport
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Compares requests by AsyncHTTPClientTransport, by URLSessionTransport and by a bare HTTPClient, against a server in another process.
//
//     swift run -c release transport-benchmarks
//     swift run -c release transport-benchmarks endurance [REQUESTS]    memory and descriptors, 100 requests in flight
//     swift run -c release transport-benchmarks streams [MEGABYTES]     a body that is read while it comes

if CommandLine.arguments.dropFirst().first == "serve" {
    let channel = try Server.start()
    print(channel.localAddress?.port ?? 0)
    fflush(nil)
    // The pipe from the parent ends with it.
    _ = FileHandle.standardInput.readDataToEndOfFile()
    exit(0)
}

if CommandLine.arguments.dropFirst().first == "memory" {
    try Memory.run(Array(CommandLine.arguments.dropFirst(2)))
    exit(0)
}

let server = Process()
let (output, input) = (Pipe(), Pipe())
server.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
server.arguments = ["serve"]
server.standardOutput = output
server.standardInput = input
try server.run()
let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
guard let port = Int(line.trimmingCharacters(in: .newlines)), let url = URL(string: "http://127.0.0.1:\(port)") else {
    fatalError("The server says \"\(line)\" and no port")
}

if CommandLine.arguments.dropFirst().first == "streams" {
    let megabytes = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 200
    try await Streams.run(url, megabytes: megabytes)
    for kind in ["client", "session"] { try Memory.run([kind, "slow", url.absoluteString, "\(megabytes)"]) }
    server.terminate()
    exit(0)
}

let ours = Sender.provider(DefaultAPIProvider(baseURL: url, transport: AsyncHTTPClientTransport()))
let session = Sender.provider(DefaultAPIProvider(baseURL: url, transport: URLSessionTransport(configuration: .ephemeral)))
let bare = Sender.client(HTTPClient.shared, url)

if CommandLine.arguments.dropFirst().first == "endurance" {
    let count = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1_000_000
    for (name, sender) in [("AsyncHTTPClientTransport", ours), ("URLSessionTransport", session)] {
        var usage: [String] = []
        for part in [1_000, count / 10, count - count / 10] {
            _ = sender.cost(of: part, size: 100, width: 100)
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            usage.append("\((Memory.kilobytes()["VmRSS"] ?? 0) / 1000) MB and \(descriptors) descriptors")
        }
        print("\(name), \(count) requests: \(usage[0]) after 1,000, \(usage[1]) after a tenth, \(usage[2]) at the end")
    }
    server.terminate()
    exit(0)
}

print(
    "| body | in flight | bare client | AsyncHTTPClientTransport | URLSessionTransport | to bare | to URLSession | CPU to bare | CPU to URLSession |"
)
print("|---|---|---|---|---|---|---|---|---|")
for size in [0, 2_000, 100_000] {
    for width in [1, 10, 100] {
        let count = width == 1 ? 1_000 : 5_000
        var costs: [[Cost]] = [[], [], []]
        // In turn, so that a machine that gets slower is no worse for one of them.
        for _ in 0..<5 {
            for (index, sender) in [bare, ours, session].enumerated() {
                costs[index].append(sender.cost(of: index == 2 ? count / 2 : count, size: size, width: width))
            }
        }
        let (bare, ours, session) = (costs[0].median, costs[1].median, costs[2].median)
        let cells = [
            "\(size)", "\(width)", bare.text, ours.text, session.text, ratio(ours.wall, bare.wall), ratio(ours.wall, session.wall),
            ratio(ours.cpu, bare.cpu), ratio(ours.cpu, session.cpu),
        ]
        print("| \(cells.joined(separator: " | ")) |")
    }
}
server.terminate()

func ratio(_ a: Double, _ b: Double) -> String { String(format: "%.2f", a / b) }
