// Declarations of the module os, as Apple documents them.

/// As Apple documents it.
public struct OSLogPrivacy: Sendable {
    /// As Apple documents it.
    public static var `public`: OSLogPrivacy { OSLogPrivacy() }
    /// As Apple documents it.
    public static var `private`: OSLogPrivacy { OSLogPrivacy() }
}

/// As Apple documents it.
public struct OSLogType: Sendable {
    /// As Apple documents it.
    public static let debug = OSLogType()
    /// As Apple documents it.
    public static let error = OSLogType()
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
    public func log(level: OSLogType, _ message: OSLogMessage) {}
}
