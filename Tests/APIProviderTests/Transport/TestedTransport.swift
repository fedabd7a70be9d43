import APIProvider

/// The transport that the suites run against. `Transports/AsyncHTTPClientTransport` runs the same suites against its own.
typealias TestedTransport = URLSessionTransport

extension TestedTransport {
    /// The results that a fault may have with this transport.
    static func outcomes(of fault: Fault) -> [Fault.Outcome] { [fault.outcome] }
}
