import APIProvider
import APIProviderCache
import Foundation
import MiniRx

/// What a cache does with one request after the other: each column is what it has decided, and what the server has seen.
func cacheDecisions() async throws -> Picture {
    let (time, sent) = (Locked(Date(timeIntervalSince1970: 1_700_000_000)), Locked<String?>(nil))
    let server = ClosureTransport { request in
        .deferred {
            guard time.withLock({ $0.timeIntervalSince1970 }) < 1_700_000_040 else {
                sent.withLock { $0 = "offline" }
                throw URLError(.notConnectedToInternet)
            }
            let status = request.headers["If-None-Match"] == nil ? 200 : 304
            sent.withLock { $0 = "\(status)" }
            return .just(APIResponse(to: request, statusCode: status, headers: ["Cache-Control": "max-age=10", "ETag": "\"1\""]))
        }
    }
    let provider = DefaultAPIProvider(
        baseURL: URL(string: "https://api.example.com"), transport: server,
        middlewares: [CacheMiddleware(now: { time.withLock { $0 } })])
    var columns: [(seconds: Int, server: String?, decision: String)] = []
    for seconds in [0, 5, 20, 40] {
        time.withLock { $0 = Date(timeIntervalSince1970: 1_700_000_000 + TimeInterval(seconds)) }
        sent.withLock { $0 = nil }
        let response = try await provider.request(Endpoint<Void>(.get, "/feed").option(\.cachePolicy, .staleIfOffline).withResponse()).value
            .response
        let status = response.value(forHTTPHeaderField: "Cache-Status") ?? ""
        let decision = status.contains("304") ? "validated" : status.contains("ttl=-") ? "stale" : response.isFromCache ? "fresh" : "stored"
        columns.append((seconds, sent.withLock { $0 }, decision))
    }
    let decided = columns
    return Picture(path: "Sources/APIProviderCache/APIProviderCache.docc/Pictures/decisions") { palette in
        let (left, step, top) = (140.0, 140.0, 36.0)
        let bottom = top + 150
        var svg = SVG(
            width: 720, height: Int(bottom + 56),
            description:
                "The first response is stored. Later it is fresh, then validated by a 304, and used stale while there is no network.",
            palette: palette)
        for (y, name) in [(top, "server"), (bottom, "app")] {
            svg.text(name, at: Point(left - 12, y + 4), anchor: "end", .line, isBold: true)
            svg.line(from: Point(left, y), to: Point(left + step * 4, y), .line, width: 2)
        }
        svg.box(at: Point(12, top + 50), width: 696, height: 50, fill: .box, stroke: .border)
        svg.text("CacheMiddleware", at: Point(28, top + 80), size: 14, anchor: "start", isBold: true)
        for (index, column) in decided.enumerated() {
            let x = left + step * (Double(index) + 0.5)
            svg.line(from: Point(x, column.server == nil ? top + 100 : top), to: Point(x, bottom), .line, dashed: true, width: 1)
            svg.text(column.decision, at: Point(x + 8, top + 80), size: 15, anchor: "start", isBold: true)
            if let text = column.server { svg.pill(text, at: Point(x, top), text == "offline" ? .error : .orange) }
            svg.pill("200", at: Point(x, bottom), .result)
            svg.text("\(column.seconds) s", at: Point(x, bottom + 36), size: 12, .line)
        }
        return svg
    }
}
