import APIProvider

/// The transport that the suites run against. `Transports/AsyncHTTPClientTransport` runs the same suites against its own.
typealias TestedTransport = URLSessionTransport

extension TestedTransport {
    /// What this transport may make of a fault.
    static func outcomes(of fault: Fault) -> [Fault.Outcome] { [fault.outcome] }
}
