import Foundation

/// Who may send requests: programs and web pages of this machine, and no page of anybody else, which a developer may be visiting.
struct AccessRules: Sendable {
    private let hostName: String?
    private let allowedOrigins: Set<String>

    init(_ options: MockServer.Options) {
        hostName = options.host?.lowercased()
        // Browsers send no slash.
        allowedOrigins = Set(options.allowedOrigins.map { String($0.hasSuffix("/") ? $0.dropLast() : $0[...]).lowercased() })
    }

    /// The status and the reason with which a request is refused. `nil` for a request that may go on.
    func refusal(of request: ServerRequest) -> (status: Int, reason: String)? {
        guard request.target.hasPrefix("/") else { return (400, "The target of a request begins with a slash.") }
        guard let host = request.host, host.isAddress || host == "localhost" || host == hostName else {
            return (403, "The Host must be an IP address, localhost, or the name given by --host.")
        }
        if let coding = request.headers["Transfer-Encoding"]?.lowercased(), coding != "chunked" {
            return (501, "The only Transfer-Encoding is chunked.")
        }
        let isControl = request.isControl
        let site = request.headers["Sec-Fetch-Site"]?.lowercased()
        // A GET of a page that this server has served has no Origin. "none" is what a person typed.
        if isControl, request.headers["Origin"] != nil || site ?? "none" != "none" { return (403, "Web pages cannot use /__mock.") }
        if let origin = request.headers["Origin"] {
            guard isAllowed(origin, host) else {
                return (403, "Pages of this origin cannot send requests. Allow them with --allow-origin \(origin.visible).")
            }
        } else if site == "cross-site" {
            return (403, "A page of another site has sent this request. Allow it with --allow-origin.")
        }
        guard isControl else { return nil }
        guard request.client?.isLoopback == true else { return (403, "Only programs of this machine can use /__mock.") }
        let type = request.headers["Content-Type"]?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        if request.method != "GET", type != "application/json" {
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
    func preflightResponse(to request: ServerRequest) -> ServerResponse? {
        guard request.method == "OPTIONS", let method = request.headers["Access-Control-Request-Method"] else { return nil }
        let names = request.headers["Access-Control-Request-Headers"]
        let isPrivate = request.headers["Access-Control-Request-Private-Network"] == "true"
        let fields: Fields = [
            "Access-Control-Max-Age": "600", "Access-Control-Allow-Methods": method, "Access-Control-Allow-Headers": names,
            "Access-Control-Allow-Private-Network": isPrivate ? "true" : nil,
        ]
        return ServerResponse(status: 204, headers: Array(fields))
    }

    /// Adds the fields with which a browser lets a page read the response.
    func allowReading(_ response: inout ServerResponse, by request: ServerRequest) {
        guard let origin = request.headers["Origin"] else { return }
        let names = Set(response.headers.map(\.name)).sorted().joined(separator: ", ")
        response.headers += [
            ("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true"), ("Access-Control-Expose-Headers", names),
            ("Vary", "Origin"),
        ]
    }
}

// MARK: - Requests and hosts

extension ServerRequest {
    /// Whether it is for the server itself.
    var isControl: Bool { path == "/__mock" || path.hasPrefix("/__mock/") }

    /// The `Host` in lower case, without its port and brackets.
    fileprivate var host: String? {
        guard let field = headers["Host"]?.lowercased() else { return nil }
        let port = field.lastIndex(of: ":").map { field[$0...] } ?? ""
        let host = field.dropLast(port.dropFirst().allSatisfy(\.isNumber) ? port.count : 0)
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host.contains(":") ? nil : String(host)
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
