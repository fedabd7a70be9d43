import APIProvider
import Tracing

struct TracingMiddleware: AsyncMiddleware {
    var tracer: any Tracer = InstrumentationSystem.tracer

    func intercept(
        _ request: PreparedRequest, next: @escaping AsyncNext
    ) async throws -> APIResponse {
        let name = request.options.name ?? request.method.rawValue
        return try await tracer.withSpan(name, ofKind: .client) { span in
            var request = request
            tracer.inject(span.context, into: &request.headers, using: Headers())
            span.attributes["server.address"] = request.url.host ?? ""
            let response = try await next(request)
            span.attributes["http.response.status_code"] = response.statusCode
            return response
        }
    }

    private struct Headers: Injector {
        func inject(
            _ value: String, forKey name: String, into headers: inout HTTPHeaders
        ) {
            headers[name] = value
        }
    }
}
