import FlyingFox
import Foundation

/// Who may send requests: programs and web pages of this machine, and no page of anybody else, which a developer may be visiting.
struct AccessRules: Sendable {
    private let hostName: String?
    private let allowedOrigins: Set<String>

    init(_ options: MockServer.Options) {
        (hostName, allowedOrigins) = (options.host?.lowercased(), Set(options.allowedOrigins.map { $0.lowercased() }))
    }

    /// The status and the reason with which a request is refused. `nil` for a request that may go on.
    func refusal(of request: FlyingFox.HTTPRequest) -> (status: Int, reason: String)? {
        let target = request.target.rawValue
        guard target.hasPrefix("/") else { return (400, "The target of a request begins with a slash.") }
        guard let host = request.host, host.isAddress || host == "localhost" || host == hostName else {
            return (403, "The Host must be an IP address, localhost, or the name given by --host.")
        }
        let isControl = request.isControl
        if let origin = request.headers[HTTPHeader("Origin")] {
            if isControl { return (403, "Web pages cannot use /__mock.") }
            guard isAllowed(origin, host) else {
                return (403, "Pages of this origin cannot send requests. Allow them with --allow-origin \(origin.visible).")
            }
        } else if request.headers[HTTPHeader("Sec-Fetch-Site")]?.lowercased() == "cross-site" {
            return (403, "A page of another site has sent this request. Allow it with --allow-origin.")
        }
        guard isControl else { return nil }
        guard request.remoteAddress?.isLoopback == true else { return (403, "Only programs of this machine can use /__mock.") }
        let type = request.headers[.contentType]?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        if request.method != .GET, type != "application/json" {
            return (415, "This method of /__mock needs the header Content-Type: application/json, also without a body.")
        }
        return nil
    }

    /// - Parameter host: The address or name by which this machine was reached.
    private func isAllowed(_ origin: String, _ host: String) -> Bool {
        if allowedOrigins.contains(origin.lowercased()) { return true }
        guard let other = URLComponents(string: origin)?.host?.lowercased() else { return false }
        let name = other.hasPrefix("[") ? String(other.dropFirst().dropLast()) : other
        return name == "localhost" || name.isLoopback || name.isAddress && name == host
    }
}

// MARK: - Web pages

extension AccessRules {
    /// The answer to a browser that asks whether a page may send a request. `nil` for other requests.
    func preflightResponse(to request: FlyingFox.HTTPRequest) -> FlyingFox.HTTPResponse? {
        guard request.method == .OPTIONS, let method = request.headers[HTTPHeader("Access-Control-Request-Method")] else { return nil }
        var headers: FlyingFox.HTTPHeaders = [HTTPHeader("Access-Control-Max-Age"): "600"]
        headers.setValues([method], for: HTTPHeader("Access-Control-Allow-Methods"))
        if let names = request.headers[HTTPHeader("Access-Control-Request-Headers")] {
            headers.setValues([names], for: HTTPHeader("Access-Control-Allow-Headers"))
        }
        if request.headers[HTTPHeader("Access-Control-Request-Private-Network")] == "true" {
            headers[HTTPHeader("Access-Control-Allow-Private-Network")] = "true"
        }
        return FlyingFox.HTTPResponse(statusCode: .noContent, headers: headers)
    }

    /// Adds the fields with which a browser lets a page read the response.
    func allowReading(_ response: inout FlyingFox.HTTPResponse, by request: FlyingFox.HTTPRequest) {
        guard let origin = request.headers[HTTPHeader("Origin")] else { return }
        let names = response.headers.keys.map(\.rawValue).sorted()
        response.headers[HTTPHeader("Access-Control-Allow-Origin")] = origin
        response.headers[HTTPHeader("Access-Control-Allow-Credentials")] = "true"
        response.headers.setValues([names.joined(separator: ", ")], for: HTTPHeader("Access-Control-Expose-Headers"))
        response.headers.addValue("Origin", for: HTTPHeader("Vary"))
    }
}

// MARK: - Requests and hosts

extension FlyingFox.HTTPRequest {
    /// Whether it is for the server itself.
    var isControl: Bool {
        let path = target.path()
        return path == "/__mock" || path.hasPrefix("/__mock/")
    }

    /// The `Host` in lower case, without its port and brackets.
    fileprivate var host: String? {
        guard let field = headers[.host]?.lowercased() else { return nil }
        if field.hasPrefix("["), let end = field.firstIndex(of: "]") { return String(field[field.index(after: field.startIndex)..<end]) }
        return String(field.prefix { $0 != ":" })
    }
}

extension FlyingFox.HTTPRequest.Address {
    fileprivate var isLoopback: Bool {
        switch self {
        case .ip4(let text, _), .ip6(let text, _): text.isLoopback
        case .unix: true
        }
    }
}

extension String {
    /// Whether a host is an IP address. No other page can take such a host for its own.
    fileprivate var isAddress: Bool {
        if contains(":") { return allSatisfy { $0.isHexDigit || ":.".contains($0) } }
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    fileprivate var isLoopback: Bool {
        let address = hasPrefix("::ffff:") ? String(dropFirst(7)) : self
        return address == "::1" || address.isAddress && address.hasPrefix("127.")
    }

    /// The text without what a terminal could take for a command.
    fileprivate var visible: String { String(unicodeScalars.filter { $0.value > 31 && $0.value != 127 }.prefix(200)) }
}
