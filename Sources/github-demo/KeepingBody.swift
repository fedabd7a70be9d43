import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request like `base`, whose response comes with the body that it was decoded from.
struct KeepingBody<Base: APIRequest>: APIRequest {
    typealias Response = (value: Base.Response, body: Data)

    let base: Base
    var baseURL: URL { base.baseURL }
    func urlRequest() throws -> URLRequest { try base.urlRequest() }
    func validate(_ response: APIResponse) throws { try base.validate(response) }
    func decode(_ response: APIResponse, using decoder: JSONDecoder) throws -> Response {
        (try base.decode(response, using: decoder), response.data)
    }
}
