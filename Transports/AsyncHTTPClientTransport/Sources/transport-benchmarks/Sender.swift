import APIProvider
import AsyncHTTPClient
import Foundation
import MiniRx
import NIOCore

/// What a request takes, in microseconds.
struct Cost {
    let wall: Double
    let cpu: Double

    var text: String { String(format: "%.0f/s, %.0f µs", 1e6 / wall, cpu) }
}

extension [Cost] {
    var median: Cost {
        Cost(wall: map(\.wall).sorted()[count / 2], cpu: map(\.cpu).sorted()[count / 2])
    }
}

/// A way to send requests.
enum Sender: Sendable {
    case provider(DefaultAPIProvider)
    case client(HTTPClient, URL)

    /// The cost of each of `count` requests, of which `width` are in flight at each moment.
    func cost(of count: Int, size: Int, width: Int) -> Cost {
        let left = Counter(count)
        let group = DispatchGroup()
        let start = (DispatchTime.now().uptimeNanoseconds, Self.cpu())
        for _ in 0..<width {
            group.enter()
            sendNext(left, size, group)
        }
        group.wait()
        let wall = Double(DispatchTime.now().uptimeNanoseconds - start.0) / 1000
        return Cost(wall: wall / Double(count), cpu: (Self.cpu() - start.1) / Double(count))
    }

    private func sendNext(_ left: Counter, _ size: Int, _ group: DispatchGroup) {
        guard left.take() else { return group.leave() }
        switch self {
        case .provider(let provider):
            _ = provider.request(Endpoint<Data>(.get, "/\(size)")).subscribe { event in
                guard case .success(let data) = event, data.count == size else { fatalError("\(event)") }
                self.sendNext(left, size, group)
            }
        case .client(let client, let url):
            client.get(url: "\(url)/\(size)").whenComplete { result in
                guard case .success(let response) = result, response.body?.readableBytes ?? 0 == size else { fatalError("\(result)") }
                self.sendNext(left, size, group)
            }
        }
    }

    /// The CPU time of this process, in microseconds.
    private static func cpu() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}

private final class Counter: @unchecked Sendable {  // The lock guards `left`.
    private var left: Int
    private let lock = NSLock()

    init(_ count: Int) { left = count }

    func take() -> Bool {
        lock.lock()
        defer { lock.unlock() }
        left -= 1
        return left >= 0
    }
}
