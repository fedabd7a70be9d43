import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

/// 20,000 requests that are disposed at random moments.
@Suite("Races", .serialized, tenMinutes)
struct RaceTests {
    private static let rounds = TestSupport.rounds(1_600)
    private static let lanes = 8

    enum Kind: CaseIterable {
        case `default`, ephemeral, shared

        var configuration: URLSessionConfiguration {
            switch self {
            case .default: .default
            case .ephemeral: .ephemeral
            // On Linux a session hands out its own, so that a change would be the shared session's.
            case .shared: URLSession.shared.configuration.copy() as? URLSessionConfiguration ?? .default
            }
        }
    }

    @Test("Against the mock: no event after dispose, and every subscription ends once", .mockNetwork, arguments: Kind.allCases)
    func mock(kind: Kind) async throws {
        MockURLProtocol.requestHandler = { request in
            let response = HTTPURLResponse(url: request.url ?? example, statusCode: 200, httpVersion: nil, headerFields: nil)
            return (try #require(response), Data("ok".utf8))
        }
        let configuration = kind.configuration
        configuration.protocolClasses = [MockURLProtocol.current]
        await race(
            DefaultAPIProvider(baseURL: example, session: URLSession(configuration: configuration)).request(Endpoint<String>(.get, "")))
    }

    @Test("Against a server: the same, and every socket is closed", arguments: Kind.allCases)
    func server(kind: Kind) async throws {
        let server = try LoopbackServer(connected: { connection in
            while connection.readRequest() != nil { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
        })
        await race(provider(of: kind).request(Endpoint<String>(.get, .url(server.url))))
        await server.allClosed()
    }

    private func provider(of kind: Kind) -> DefaultAPIProvider {
        kind == .shared ? DefaultAPIProvider() : DefaultAPIProvider(baseURL: example, configuration: kind.configuration)
    }

    private func race(_ single: Single<String>) async {
        let rounds = Rounds()
        await withTaskGroup { group in
            for _ in 0..<Self.lanes {
                group.addTask { for _ in 0..<(Self.rounds / Self.lanes + 1) { await rounds.run(single) } }
            }
        }
        #expect(rounds.log.entries == [])
        #expect(rounds.successes > 0)
        #expect(rounds.successes < Self.rounds)
    }
}

/// Subscribes and disposes, and notes what should not be.
private final class Rounds: Sendable {
    let log = Log<String>()
    private let values = Log<Void>()
    private let queue = DispatchQueue(label: "RaceTests")

    var successes: Int { values.count }

    /// Ends with the subscription.
    func run(_ single: Single<String>) async {
        let isOver = Locked(false)
        let observed = Bool.random() ? single.observe(on: SerialDispatchQueueScheduler(queue: queue)) : single
        await withCheckedContinuation { continuation in
            let disposable = observed.subscribe(
                onSuccess: { [log, values] value in
                    values.append(())
                    if value != "ok" { log.append(value) }
                    if isOver.withLock({ $0 }) { log.append("an event after the end") }
                },
                onFailure: { [log] error in log.append("\(error)") },
                onDisposed: {
                    isOver.withLock { $0 = true }
                    continuation.resume()
                })
            dispose(disposable)
        }
    }

    /// At a random moment, from a random place; or never.
    private func dispose(_ disposable: any Disposable) {
        let moment = DispatchTime.now() + .microseconds(.random(in: 0...600))
        switch Int.random(in: 0..<4) {
        case 0: break
        case 1: disposable.dispose()
        case 2: DispatchQueue.global().asyncAfter(deadline: moment) { disposable.dispose() }
        default: queue.asyncAfter(deadline: moment) { disposable.dispose() }
        }
    }
}
