#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension URLRequest {
    /// What `request` describes, or ``APIError/invalidRequest(reason:underlying:)``.
    init(building request: some APIRequest) throws {
        self.init(url: try URL(building: request))
        if let timeout = request.timeoutInterval {
            guard timeout > 0 else { throw APIError.invalid("its timeoutInterval is \(timeout) seconds; it must be more than 0") }
            timeoutInterval = timeout
        }

        guard request.method.rawValue.isToken else { throw APIError.invalid("its method \"\(request.method.rawValue)\" is no token") }
        httpMethod = request.method.rawValue

        for (name, value) in request.headers {
            try HTTPHeaders.check(name, value)
            setValue(value, forHTTPHeaderField: name)
        }
        if request.headers["Accept"] == nil, APIResponse.isJSON(type(of: request).Response) {
            setValue("application/json", forHTTPHeaderField: "Accept")
        }

        guard let body = try request.body?.encode() else { return }
        httpBody = body.data
        try checkBody()
        guard body.type.isFieldValue else { throw APIError.invalid("the content type of its body has a line break or a NUL") }
        if request.headers["Content-Type"] == nil { setValue(body.type, forHTTPHeaderField: "Content-Type") }
    }
}

extension URLRequest {
    /// Throws for what HTTP does not allow: a middleware, or a request of one's own, may have set it.
    package func check() throws {
        for (name, value) in allHTTPHeaderFields ?? [:] { try HTTPHeaders.check(name, value) }
        try checkBody()
    }

    /// Throws for a body where HTTP has none. Some servers ignore it, and URL loading systems refuse it with a misleading error.
    fileprivate func checkBody() throws {
        guard let httpMethod, ["GET", "HEAD"].contains(httpMethod.uppercased()), httpBody != nil || httpBodyStream != nil else { return }
        throw APIError.invalid("\(httpMethod) has no body: send it with another method, or put the values into the query")
    }
}

extension HTTPHeaders {
    /// Throws for a field that HTTP does not allow (RFC 9110, section 5.5).
    package static func check(_ name: String, _ value: String) throws {
        guard name.isToken else { throw APIError.invalid("its header name \"\(name)\" is no token (RFC 9110, section 5.6.2)") }
        guard value.isFieldValue else { throw APIError.invalid("its header \(name) has a line break or a NUL in its value") }
    }
}

extension URL {
    fileprivate init(building request: some APIRequest) throws {
        guard var components = URLComponents(url: request.baseURL, resolvingAgainstBaseURL: true), components.scheme != nil,
            components.host?.isEmpty == false
        else {
            throw APIError.invalid(
                "its baseURL \"\(request.baseURL.redacted)\" needs a scheme and a host, as in \"https://api.example.com\"")
        }

        guard components.user == nil, components.password == nil else {
            // Linux would send them, and Apple's systems would not.
            throw APIError.invalid("its baseURL has a user name or a password; send them in the header Authorization")
        }

        if let problem = request.path.problem { throw APIError.invalid(problem) }
        let path = request.path.percentEncoded
        if !path.isEmpty {
            var base = Substring(components.percentEncodedPath)
            while base.last == "/" { base.removeLast() }
            components.percentEncodedPath = base + "/" + path.drop { $0 == "/" }
        }
        let query = [components.percentEncodedQuery ?? "", request.query.percentEncoded].filter { !$0.isEmpty }.joined(separator: "&")
        components.percentEncodedQuery = query.isEmpty ? nil : query
        components.fragment = nil

        guard let url = components.url else {
            throw APIError.invalid("no URL can be made of its baseURL \"\(request.baseURL.redacted)\" and path \"\(path)\"")
        }
        self = url
    }
}

extension APIError {
    fileprivate static func invalid(_ reason: String) -> APIError { .invalidRequest(reason: reason) }
}

extension String {
    /// RFC 9110, section 5.6.2.
    var isToken: Bool {
        !isEmpty && utf8.allSatisfy { byte in ASCIISet.token.contains(byte) }
    }

    /// RFC 9110, section 5.5: what cannot end a field, and begin another.
    var isFieldValue: Bool {
        !utf8.contains { [0, 10, 13].contains($0) }
    }
}
