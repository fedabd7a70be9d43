import APIProvider
import APIProviderMocks
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

/// Requests that are disposed at random moments.
@Suite("Races", .serialized, .mockNetwork, tenMinutes)
struct RaceTests {
    enum Kind: CaseIterable {
        case `default`, ephemeral, shared, transport

        var provider: DefaultAPIProvider {
            guard let configuration else { return mocked }
            configuration.protocolClasses = [MockURLProtocol.current]
            return DefaultAPIProvider(baseURL: example, session: URLSession(configuration: configuration))
        }

        private var configuration: URLSessionConfiguration? {
            switch self {
            case .default: .default
            case .ephemeral: .ephemeral
            // On Linux, the property returns the configuration of the shared session itself.
            case .shared: URLSession.shared.configuration.copy() as? URLSessionConfiguration
            case .transport: nil
            }
        }
    }

    @Test("No event comes after dispose, and every subscription ends once", arguments: Kind.allCases)
    func race(kind: Kind) async throws {
        MockURLProtocol.stub(
            .get, "/a",
            respond: .handler { _ in .data(Data("ok".utf8)).delayed(by: .microseconds(Bool.random() ? 0 : 300)).chunked(into: 2) })
        let single = kind.provider.request(Endpoint<String>(.get, "/a"))
        let (values, mistakes, count) = (Log<Void>(), Log<String>(), rounds(400))
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<count / 8 { await run(single, values, mistakes) } }
            }
        }
        #expect(mistakes.entries == [])
        #expect(0 < values.count && values.count < count)
    }

    /// Subscribes, disposes at a random moment from a random place, or never, and returns when the subscription has ended.
    private func run(_ single: Single<String>, _ values: Log<Void>, _ mistakes: Log<String>) async {
        let queue = DispatchQueue(label: "RaceTests")
        let isOver = Locked(false)
        let observed = Bool.random() ? single.observe(on: SerialDispatchQueueScheduler(queue: queue)) : single
        await withCheckedContinuation { continuation in
            let disposable = observed.subscribe(
                onSuccess: { value in
                    values.append(())
                    if value != "ok" { mistakes.append(value) }
                    if isOver.withLock({ $0 }) { mistakes.append("an event after the end") }
                },
                onFailure: { error in mistakes.append("\(error)") },
                onDisposed: {
                    isOver.withLock { $0 = true }
                    continuation.resume()
                })
            let moment = DispatchTime.now() + .microseconds(.random(in: 0...600))
            switch Int.random(in: 0..<4) {
            case 0: break
            case 1: disposable.dispose()
            case 2: DispatchQueue.global().asyncAfter(deadline: moment) { disposable.dispose() }
            default: queue.asyncAfter(deadline: moment) { disposable.dispose() }
            }
        }
    }
}
