package import Foundation

/// One thing that a server does with a connection.
package struct Step: Sendable {
    fileprivate let run: @Sendable (Connection) -> Void

    /// Reads a request with its body.
    package static let readRequest = Step { _ = $0.readRequest() }

    /// Reads the head of a request.
    package static let readHead = Step { $0.readHead() }

    /// Reads the first bytes.
    package static let readSome = Step { _ = $0.readSome() }

    /// Waits until the client has closed its end.
    package static let waitUntilClosed = Step { $0.waitUntilClosed() }

    /// Ends the connection with an RST instead of a FIN.
    package static let reset = Step { $0.reset() }

    /// Sends bytes as they are.
    package static func send(_ bytes: Data) -> Step { Step { $0.send(bytes) } }

    /// Sends text as it is.
    package static func send(_ text: String) -> Step { send(Data(text.utf8)) }

    /// Sends `text` every millisecond, until the client has closed its end. Without a pause, Foundation's queue could cancel nothing.
    package static func sendForever(_ text: String) -> Step {
        Step { while $0.send(text) { Thread.sleep(forTimeInterval: 0.001) } }
    }

    /// Sends a byte every 100 ms, until the client has closed its end.
    package static func drip(_ text: String) -> Step {
        Step { connection in
            _ = text.utf8.allSatisfy { byte in
                Thread.sleep(forTimeInterval: 0.1)  // The delay is the fault.
                return connection.send(Data([byte]))
            }
        }
    }
}

extension LoopbackServer {
    /// A server that does the same with each connection, and closes it at the end.
    package convenience init(_ script: [Step]) throws {
        try self.init(connected: { connection in script.forEach { $0.run(connection) } })
    }
}
