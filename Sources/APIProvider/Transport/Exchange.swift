public import Foundation
import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// One request on its way: what the closure of an ``ExchangeTransport`` sends, and tells what comes of it.
///
/// Call it from any thread, one call at a time. After ``complete(with:)`` and after a dispose, calls do nothing.
public final class Exchange: Sendable {
    private enum State {
        /// For a connection.
        case waiting
        case starting
        case running(any Disposable)
        case cancelled
        case complete
    }

    /// What to send, as it stands: with its cookies, and the headers of the transport. Do not follow redirects.
    ///
    /// A body of files is in `httpBodyStream`. Each time you ask for the request, that starts at the beginning.
    public var request: URLRequest { outgoing.withLock { $0 }.withUnreadBody }

    /// How many bytes the body has: 0 without one, and `nil` if nobody knows. The server wants to know it as the Content-Length.
    public var bodyLength: Int64? { outgoing.withLock { $0 }.bodyLength }

    /// Whether ``request`` can be sent once more: not when its body is a stream of the user's own.
    public var canBeSentAgain: Bool { outgoing.withLock { $0 }.canBeSentAgain }

    private let transfer: Transfer
    private let connections: ConnectionQueue?
    private let place: ConnectionQueue.Place
    private let cookies: Cookies?
    private let outgoing: Locked<URLRequest>
    private let state = Locked(State.waiting)

    /// - Parameters:
    ///   - connections: Where the request waits for a connection to its host; `nil` leaves that to the network stack.
    ///   - cookies: What is done with cookies; `nil` leaves that to the network stack.
    init(_ request: URLRequest, transfer: Transfer, connections: ConnectionQueue?, cookies: Cookies?) {
        outgoing = Locked(request)
        (self.transfer, self.connections, self.cookies) = (transfer, connections, cookies)
        place = ConnectionQueue.Place(host: connections == nil ? "" : request.url?.origin ?? "")
    }

    /// Begins when a connection is free.
    func begin(_ start: @escaping @Sendable (Exchange) -> any Disposable) {
        guard let connections else { return run(start) }
        connections.enter(place) { self.run(start) }
    }

    private func run(_ start: (Exchange) -> any Disposable) {
        let isInTime = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .starting
            return true
        }
        guard isInTime else { return }
        transfer.begin()
        // It may have been cancelled meanwhile, or its time may be over: then nothing is sent.
        guard !transfer.isOver else {
            connections?.leave(place)
            return
        }
        // Those that have come while it waited are sent, too.
        if let cookies {
            let request = cookies.added(to: request)
            outgoing.withLock { $0 = request }
        }
        let sending = start(self)
        let isCancelled = state.withLock { state in
            guard case .starting = state else { return true }
            state = .running(sending)
            return false
        }
        if isCancelled { sending.dispose() }
    }

    /// Tells that `count` bytes of the request's body have been sent in all, of `total`, which is `nil` while nobody knows it.
    public func sent(_ count: Int64, of total: Int64?) { transfer.sent(count, of: total) }

    /// Takes the head of the response. Returns false when its body cannot be taken: then stop the transfer, and complete the exchange.
    ///
    /// - Parameters:
    ///   - response: The head of the response. Not one with a status below 200.
    ///   - sharesConnection: Whether other requests may use the same connection at the same time, as by HTTP/2.
    public func receive(_ response: HTTPURLResponse, sharesConnection: Bool = false) -> Bool {
        connections?.learn(place, isShared: sharesConnection)
        if let cookies, !transfer.isOver { cookies.keep(response, to: outgoing.withLock { $0 }) }
        return transfer.receive(response)
    }

    /// Takes bytes of the response's body, decoded as its Content-Encoding says. Returns false when they cannot be taken, because they are
    /// too many or the disk is full: then stop the transfer, and complete the exchange.
    public func receive(_ chunk: Data) -> Bool { transfer.receive(chunk) }

    /// Ends the exchange: with the response when the whole of it has come, or else with `error`, for which a `URLError` is best.
    ///
    /// Call it always, also after a dispose: it frees the connection for the next request to the same host. Only the first call counts.
    public func complete(with error: (any Error)? = nil) {
        let isFirst = state.withLock { state in
            if case .complete = state { return false }
            state = .complete
            return true
        }
        guard isFirst else { return }
        transfer.complete(error)
        connections?.leave(place)
    }

    /// The response was made by a protocol class: see `Transfer`.
    func receiveFromProtocol() { transfer.receiveFromProtocol() }

    /// Cancels the exchange, unless it is complete. The connection is free when the network stack has completed it.
    func cancel() {
        transfer.cancel()
        let old = state.withLock { state in
            defer { if case .complete = state {} else { state = .cancelled } }
            return state
        }
        switch old {
        case .waiting: connections?.leave(place)
        case .running(let sending): sending.dispose()
        case .starting, .cancelled, .complete: break
        }
    }
}
