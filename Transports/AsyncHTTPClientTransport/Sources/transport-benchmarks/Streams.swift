import APIProvider
import AsyncHTTPClient
import AsyncHTTPClientTransport
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a large body takes that is read while it comes, beside the bare stacks.
enum Streams {
    static func run(_ url: URL, megabytes: Int) async throws {
        let path = "\(megabytes * 1_000_000)"
        let client = DefaultAPIProvider(baseURL: url, transport: AsyncHTTPClientTransport())
        let session = DefaultAPIProvider(baseURL: url, transport: URLSessionTransport(configuration: .ephemeral))
        var times: [[Double]] = [[], [], [], []]
        for _ in 0..<7 {
            times[0].append(try await seconds(megabytes) { try await readBare(HTTPClient.shared, "\(url)/\(path)") })
            times[1].append(try await seconds(megabytes) { try await read(client, "/\(path)") })
            times[2].append(await seconds(megabytes) { await CountingDelegate.read(url.appendingPathComponent(path)) })
            times[3].append(try await seconds(megabytes) { try await read(session, "/\(path)") })
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        for (name, index) in [("AsyncHTTPClient", 0), ("URLSession", 2)] {
            print(
                String(
                    format: "%@: %d MB as a ByteStream %.3f s, bare %.3f s: %.2f", name, megabytes, medians[index + 1], medians[index],
                    medians[index + 1] / medians[index]))
        }
    }

    /// Reads 20 MB a second.
    static func readSlowly(_ provider: DefaultAPIProvider, megabytes: Int) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var count = 0
        for try await chunk in try await provider.request(Endpoint<ByteStream>(.get, "/\(megabytes * 1_000_000)")).value {
            count += chunk.count
            try await clock.sleep(until: start + .nanoseconds(count * 50))
        }
        precondition(count == megabytes * 1_000_000)
    }

    private static func seconds(_ megabytes: Int, _ read: () async throws -> Int) async rethrows -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        let count = try await read()
        precondition(count == megabytes * 1_000_000, "\(count) bytes have come")
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    }

    private static func read(_ provider: DefaultAPIProvider, _ path: RequestPath) async throws -> Int {
        var count = 0
        for try await chunk in try await provider.request(Endpoint<ByteStream>(.get, path)).value { count += chunk.count }
        return count
    }

    private static func readBare(_ client: HTTPClient, _ url: String) async throws -> Int {
        var count = 0
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .minutes(1))
        for try await chunk in response.body { count += chunk.readableBytes }
        return count
    }
}

/// A bare session's delegate, which counts bytes.
private final class CountingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // The session calls it in turn.
    private var count = 0
    private let end: CheckedContinuation<Int, Never>

    private init(_ end: CheckedContinuation<Int, Never>) { self.end = end }

    static func read(_ url: URL) async -> Int {
        await withCheckedContinuation { end in
            let session = URLSession(configuration: .ephemeral, delegate: CountingDelegate(end), delegateQueue: nil)
            session.dataTask(with: url).resume()
            session.finishTasksAndInvalidate()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { count += data.count }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) { end.resume(returning: count) }
}
