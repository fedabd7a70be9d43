/// An HTTP request method (RFC 9110, section 9). Any token is a method: `let method: HTTPMethod = "PROPFIND"`.
public struct HTTPMethod: RawRepresentable, ExpressibleByStringLiteral, Hashable, Sendable {
    /// The sent text. Upper and lower case matter.
    public let rawValue: String

    /// Creates the method `rawValue`. `DELETE`, `GET`, `HEAD`, `OPTIONS`, `POST` and `PUT` are sent in upper case, as by browsers and by
    /// `URLSession` on Linux (the Fetch standard, "normalize a method").
    public init(rawValue: String) {
        guard rawValue.utf8.contains(where: \.isLowercaseLetter) else {
            self.rawValue = rawValue
            return
        }
        let upper = rawValue.uppercased()
        self.rawValue = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"].contains(upper) ? upper : rawValue
    }

    /// Creates the method `value`.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// Transfers a representation. Safe and idempotent.
    public static let get: HTTPMethod = "GET"
    /// Like `GET`, but the response has no body. Safe and idempotent.
    public static let head: HTTPMethod = "HEAD"
    /// Lets the resource process the body.
    public static let post: HTTPMethod = "POST"
    /// Replaces the resource with the body. Idempotent.
    public static let put: HTTPMethod = "PUT"
    /// Changes a part of the resource (RFC 5789).
    public static let patch: HTTPMethod = "PATCH"
    /// Removes the resource. Idempotent.
    public static let delete: HTTPMethod = "DELETE"
    /// Asks for the resource's allowed methods. Safe and idempotent.
    public static let options: HTTPMethod = "OPTIONS"

    /// The methods safe to send again (RFC 9110, section 9.2.2).
    static let idempotent: Set<HTTPMethod> = [.get, .head, .options, "TRACE", .put, .delete]
}

extension HTTPMethod: CustomStringConvertible {
    /// The sent text: `GET`.
    public var description: String { rawValue }
}
