#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import Testing

@testable import APIProvider
@testable import APIProviderTransport

@Suite("Sessions that are kept for later requests, on Linux")
struct IdleSessionPoolTests {
    @Test("At most a hundred are in use at once, whatever was given back before", arguments: [0, 1, 100])
    func maximum(limit: Int) throws {
        let sessions = IdleSessionPool(limit: limit)
        // One for all: a session needs two file descriptors, and a process may have a thousand.
        let session = URLSession(configuration: .ephemeral)
        for _ in 0..<2 {
            let taken = (0..<100).map { _ in sessions.takeSession { session } }
            #expect(taken.allSatisfy { $0 != nil })
            #expect(sessions.takeSession { session } == nil)
            taken.forEach { $0.map(sessions.add) }
        }
        sessions.invalidate()
    }
}
#endif
