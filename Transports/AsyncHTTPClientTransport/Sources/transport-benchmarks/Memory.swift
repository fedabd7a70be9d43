import APIProvider
import AsyncHTTPClientTransport
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The memory that a large body takes: `memory (client|session) (up|parts|down|slow) URL MEGABYTES`. `parts` is a multipart body with the
/// file, and `slow` reads 20 MB a second while they come.
enum Memory {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 4, let url = URL(string: arguments[2]), let megabytes = Int(arguments[3]) else {
            fatalError("memory (client|session) (up|parts|down|slow) URL MEGABYTES")
        }
        let transport: any Transport =
            arguments[0] == "client" ? AsyncHTTPClientTransport() : URLSessionTransport(configuration: .ephemeral)
        let provider = DefaultAPIProvider(baseURL: url, transport: transport)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("transport-benchmarks-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let done = DispatchSemaphore(value: 0)
        func wait(_ single: Single<some Sendable>) {
            _ = single.subscribe { event in
                if case .failure(let error) = event { print(error) }
                done.signal()
            }
            done.wait()
        }
        wait(provider.request(Endpoint<Data>(.get, "/1000")))
        if arguments[1] == "up" || arguments[1] == "parts" {
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
            let handle = try FileHandle(forWritingTo: file)
            for _ in 0..<megabytes { try handle.write(contentsOf: Data(repeating: 0x61, count: 1_000_000)) }
            try handle.close()
        }
        let start = kilobytes()
        // Linux keeps the peaks of each process; this starts them anew.
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        let sampler = Sampler()
        let type = "application/octet-stream"
        switch arguments[1] {
        case "up": wait(provider.request(Endpoint<Data>(.post, "/0", body: .file(file, contentType: type))))
        case "parts":
            let part = MultipartPart(name: "file", file: file, contentType: type)
            wait(provider.request(Endpoint<Data>(.post, "/0", body: .multipart([part]))))
        case "slow": wait(Single.create { try await Streams.readSlowly(provider, megabytes: megabytes) })
        default: wait(provider.request(Endpoint(.get, "/\(megabytes * 1_000_000)", downloadingTo: file)))
        }
        let peak = kilobytes()["VmHWM"] ?? 0
        print(
            "\(arguments[0]) \(arguments[1]) \(megabytes) MB: peak \((peak - (start["VmRSS"] ?? 0)) / 1000) MB above the start,",
            "of its own (without pages of the file) \((sampler.stop() - (start["RssAnon"] ?? 0)) / 1000) MB")
    }

    static func kilobytes() -> [String: Int] {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        var values: [String: Int] = [:]
        for line in status.split(separator: "\n") {
            let parts = line.split { " :\t".contains($0) }
            if parts.count == 3, let value = Int(parts[1]) { values["\(parts[0])"] = value }
        }
        return values
    }
}

/// Looks every millisecond at the memory that is no page of a file.
private final class Sampler: @unchecked Sendable {  // The lock guards both.
    private let lock = NSLock()
    private var peak = 0
    private var isOver = false

    init() {
        Thread.detachNewThread { [self] in
            while !lock.withLock({ isOver }) {
                let now = Memory.kilobytes()["RssAnon"] ?? 0
                lock.withLock { peak = max(peak, now) }
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }

    func stop() -> Int {
        lock.withLock {
            isOver = true
            return peak
        }
    }
}
