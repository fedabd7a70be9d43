import APIProvider
import TestSupport
import Testing

@Suite("The queue of a host")
struct HostQueueTests {
    private var queue = HostQueue<String>(connections: 2)

    @Test("Where requests seem to share connections all are sent, and each still has its turn")
    mutating func shared() {
        for request in ["a", "b", "c", "d"] { _ = queue.enter(request) }
        #expect(queue.learn(isShared: true) == [.send("c"), .send("d")])
        #expect(queue.learn(isShared: true).isEmpty)
        #expect(queue.enter("e") == .send("e"))
        // One whose turn has not come may be the first to end.
        #expect(queue.leave("d") == nil)
        #expect(queue.leave("a") == .connect("c"))
        #expect(queue.leave("c") == .connect("e"))
    }

    @Test("Whether connections are shared is learned again from each response")
    mutating func unlearned() {
        for request in ["a", "b"] { _ = queue.enter(request) }
        _ = queue.learn(isShared: true)
        #expect(queue.enter("c") == .send("c"))
        #expect(queue.learn(isShared: false).isEmpty)
        #expect(queue.enter("d") == nil)
        #expect(queue.leave("a") == .connect("c"))
        #expect(queue.leave("b") == .connect("d"))
    }

    @Test("However often a host changes between shared connections and others, a request is sent once")
    mutating func changing() {
        for request in ["a", "b", "c", "d"] { _ = queue.enter(request) }
        #expect(queue.learn(isShared: true) == [.send("c"), .send("d")])
        _ = queue.learn(isShared: false)
        #expect(queue.enter("e") == nil)
        #expect(queue.learn(isShared: true) == [.send("e")])
        #expect(queue.enter("f") == .send("f"))
        _ = queue.learn(isShared: false)
        #expect(queue.learn(isShared: true).isEmpty)
    }

    @Test("However requests come and go, no more are connected than may be, and each that stays is")
    mutating func random() {
        var generator = SeededGenerator(seed: 7)
        var (inside, connected) = ([Int](), Set<Int>())
        func take(_ step: HostQueue<Int>.Step?) { if case .connect(let request) = step { connected.insert(request) } }
        var queue = HostQueue<Int>(connections: 2)
        for request in 0..<10_000 {
            if Bool.random(using: &generator) || inside.isEmpty {
                inside.append(request)
                take(queue.enter(request))
            } else {
                let leaving = inside.remove(at: Int.random(in: inside.indices, using: &generator))
                connected.remove(leaving)
                take(queue.leave(leaving))
            }
            if request % 100 == 0 { _ = queue.learn(isShared: Bool.random(using: &generator)) }
            #expect(connected.count == min(inside.count, 2))
        }
    }
}
