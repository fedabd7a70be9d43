import MiniRx

/// Gives the connections of each host to requests in the order in which they come.
package final class ConnectionQueue: Sendable {
    /// The place of one request in the queue of its host.
    package final class Place: @unchecked Sendable {  // The variable is touched under the queue's lock.
        fileprivate let host: String
        /// The key of a request that has waited, in `Host.waiting`.
        fileprivate var number: Int?

        package init(host: String) { self.host = host }
    }

    private struct Host {
        var inUse = 0
        /// Whether requests share connections, as by HTTP/2: then none waits. `nil` until a response shows it.
        var isShared: Bool?
        /// How each request that waits goes on. The keys are in `first..<end`.
        var waiting: [Int: @Sendable () -> Void] = [:]
        var first = 0
        var end = 0

        mutating func enter(_ place: Place, _ proceed: @escaping @Sendable () -> Void, maximum: Int) -> Bool {
            guard inUse >= maximum, isShared != true else {
                inUse += 1
                return true
            }
            place.number = end
            waiting[end] = proceed
            end += 1
            return false
        }

        /// Returns how the request goes on that gets the connection, and what is to be released.
        mutating func leave(_ place: Place) -> (next: (@Sendable () -> Void)?, released: (@Sendable () -> Void)?) {
            if let released = place.number.flatMap({ waiting.removeValue(forKey: $0) }) { return (nil, released) }
            inUse -= 1
            return (next(), nil)
        }

        /// Gives a connection to the request that has waited longest.
        mutating func next() -> (@Sendable () -> Void)? {
            while first < end {
                first += 1
                guard let proceed = waiting.removeValue(forKey: first - 1) else { continue }
                inUse += 1
                return proceed
            }
            return nil
        }
    }

    private let connectionsPerHost: Int
    private let hosts = Locked<[String: Host]>([:])

    package init(connectionsPerHost: Int) { self.connectionsPerHost = max(connectionsPerHost, 1) }

    /// Calls `proceed` when the host has a connection free: at once, or on the thread of the `leave` that frees one.
    package func enter(_ place: Place, _ proceed: @escaping @Sendable () -> Void) {
        let isFree = hosts.withLock { $0[place.host, default: Host()].enter(place, proceed, maximum: connectionsPerHost) }
        if isFree { proceed() }
    }

    /// Frees the connection of `place`, or removes it from the queue. To be called once.
    package func leave(_ place: Place) {
        let left = hosts.withLock { hosts in
            let left = hosts[place.host]?.leave(place)
            if hosts[place.host]?.inUse == 0, hosts[place.host]?.isShared != true { hosts[place.host] = nil }
            return left
        }
        left?.next?()
    }

    /// The first response of a host shows whether requests share its connections. If they do, all that wait go on.
    package func learn(_ place: Place, isShared: @autoclosure () -> Bool) {
        guard hosts.withLock({ $0[place.host]?.isShared == nil }) else { return }
        let isShared = isShared()
        let proceed = hosts.withLock { hosts in
            hosts[place.host]?.isShared = isShared
            var proceed: [@Sendable () -> Void] = []
            while isShared, let next = hosts[place.host]?.next() ?? nil { proceed.append(next) }
            return proceed
        }
        proceed.forEach { $0() }
    }
}
