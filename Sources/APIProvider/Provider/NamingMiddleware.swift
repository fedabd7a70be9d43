import MiniRx

/// Names the middleware in each ``APIError`` that it throws itself. An error that `next` has failed with keeps its description.
struct NamingMiddleware: Middleware {
    private let middleware: any Middleware
    private let name: String

    private init(_ middleware: any Middleware) { (self.middleware, name) = (middleware, nameInSource(of: type(of: middleware))) }

    /// Returns `middleware` itself if it is one of this package's, and otherwise one that names it.
    static func naming(_ middleware: any Middleware) -> any Middleware {
        let module = String(reflecting: type(of: middleware)).prefix { $0 != "." }
        return ["APIProvider", "APIProviderCache"].contains(module) ? middleware : NamingMiddleware(middleware)
    }

    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        .deferred { [middleware, name] in
            // An error has no identity, so those that read alike are the same.
            let passed = Locked<Set<String>>([])
            let recordingNext: Next = { request in
                next(request.withoutThrowingMiddleware).mapError { error in
                    if let description = (error as? APIError)?.description { _ = passed.withLock { $0.insert(description) } }
                    return error
                }
            }
            return middleware.intercept(request, next: recordingNext).map(\.withoutThrowingMiddleware).mapError { error in
                guard let error = error as? APIError else { return error }
                let description = error.description
                return passed.withLock { $0.contains(description) } ? error : error.thrown(in: name)
            }
        }
    }
}
