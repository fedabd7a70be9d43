// Declarations of the module os, as Apple documents them.

/// As Apple documents it.
public struct OSLogPrivacy: Sendable {
    /// As Apple documents it.
    public static var `public`: OSLogPrivacy { OSLogPrivacy() }
}

/// As Apple documents it.
public struct OSLogInterpolation: StringInterpolationProtocol {
    /// As Apple documents it.
    public init(literalCapacity: Int, interpolationCount: Int) {}
    /// As Apple documents it.
    public mutating func appendLiteral(_ literal: String) {}
    /// As Apple documents it.
    public mutating func appendInterpolation(_ text: @autoclosure @escaping () -> String, privacy: OSLogPrivacy) {}
}

/// As Apple documents it.
public struct OSLogMessage: ExpressibleByStringInterpolation {
    /// As Apple documents it.
    public init(stringInterpolation: OSLogInterpolation) {}
    /// As Apple documents it.
    public init(stringLiteral value: String) {}
}

/// As Apple documents it.
@available(macOS 11, *)
public struct Logger: Sendable {
    /// As Apple documents it.
    public init(subsystem: String, category: String) {}
    /// As Apple documents it.
    public func debug(_ message: OSLogMessage) {}
    /// As Apple documents it.
    public func error(_ message: OSLogMessage) {}
}
