/// The order in which the requests to one host get its connections.
///
/// It only decides: its methods return what is to be done next.
package struct HostQueue<Request: Hashable & Sendable>: Sendable {
    /// What is to be done with a request.
    package enum Step: Hashable, Sendable {
        /// Send it. It may still wait for a connection in the network stack.
        case send(Request)
        /// It has a connection: send it, unless that has been done, and count its silence from now on.
        case connect(Request)
    }

    private let connections: Int
    private var inUse = 0
    /// Whether requests share connections, as by HTTP/2. Then all are sent at once, but each still has its turn.
    private var isShared = false
    /// The requests whose turn has not come. The keys are in `first..<end`.
    private var waiting: [Int: Request] = [:]
    private var keys: [Request: Int] = [:]
    private var first = 0
    private var end = 0
    /// Requests with lower keys have been sent while their turn had not come.
    private var firstUnsent = 0

    package init(connections: Int) { self.connections = max(connections, 1) }

    /// Whether there is no request. What was learned of the host is not worth keeping: the next response shows it again.
    package var isUnused: Bool { inUse == 0 }

    package mutating func enter(_ request: Request) -> Step? {
        guard inUse >= connections else {
            inUse += 1
            return .connect(request)
        }
        (keys[request], waiting[end]) = (end, request)
        end += 1
        guard isShared else { return nil }
        firstUnsent = end
        return .send(request)
    }

    /// Frees the connection of `request`, or removes it from those that wait.
    package mutating func leave(_ request: Request) -> Step? {
        if let key = keys.removeValue(forKey: request) {
            waiting[key] = nil
            return nil
        }
        inUse -= 1
        while first < end {
            first += 1
            guard let next = waiting.removeValue(forKey: first - 1) else { continue }
            keys[next] = nil
            inUse += 1
            return .connect(next)
        }
        return nil
    }

    /// The last response shows whether requests share connections.
    package mutating func learn(isShared: Bool) -> [Step] {
        guard isShared != self.isShared else { return [] }
        self.isShared = isShared
        guard isShared else { return [] }
        defer { firstUnsent = end }
        return (max(first, firstUnsent)..<end).compactMap { waiting[$0].map(Step.send) }
    }
}
