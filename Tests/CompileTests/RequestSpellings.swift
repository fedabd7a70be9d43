// Spellings from other libraries. Each means what it says, or does not compile.
import APIProvider
import Foundation
import MiniRx

struct User: Codable, Sendable { let login: String }
struct Item: Codable, Sendable { let name: String }
struct Plain: Sendable { let login: String }
class Model: Decodable { var login = "" }

enum Kind: String { case open }

let constant = "/x"
let optional: String? = nil
let number = 30
let method = "POST"

func paths(_ path: String, _ url: URL) {
    _ = Endpoint<User>(.get, constant)  // error: cannot convert value of type 'String' to expected argument type 'RequestPath'
    _ = Endpoint<User>(.get, url)  // error: cannot convert value of type 'URL' to expected argument type 'RequestPath'
    _ = Endpoint<User>(.get, RequestPath(path))
    _ = Endpoint<User>(.get, .url(url))
    _ = Endpoint<User>(.get, "/users/\(path)")
    _ = Endpoint<User>(.get, "/users/\(number)/\(Date())/\(Kind.open)")
    _ = Endpoint<User>(.get, "/users/\(optional)")  // error: value of optional type 'String?' must be unwrapped
}

func methods() {
    _ = Endpoint<User>("POST", "/x")
    _ = Endpoint<User>(.post, "/x")
    _ = Endpoint<User>(method, "/x")  // error: cannot convert value of type 'String' to expected argument type 'HTTPMethod'
}

func headersAndQueries(_ headers: [String: String], _ etag: String?, _ ids: [any QueryValue]) {
    _ = Endpoint<User>(.get, "", headers: headers)  // error: to expected argument type 'HTTPHeaders'
    _ = Endpoint<User>(.get, "", query: headers)  // error: to expected argument type 'QueryParameters'
    _ = Endpoint<User>(.get, "/x", query: QueryParameters(headers), headers: HTTPHeaders(headers))
    _ = Endpoint<User>(.get, "/x", headers: ["If-None-Match": etag])
    _ = Endpoint<User>(.get, "/x", query: ["a": ids.flatMap(\.queryValues), "b": Set([1]), "c": Character("x"), "d": Decimal(1)])
    _ = Endpoint<User>(.get, "/x", query: QueryParameters(["a": 1]) + QueryParameters(["b": 1 as any QueryValue]))
    _ = Endpoint<User>(.get, "/x", parameters: ["q": 1])  // error: extra argument 'parameters' in call
}

func bodies(_ user: User, _ data: Data?, _ objects: [String: Any], _ body: HTTPBody?, _ isFull: Bool) {
    _ = Endpoint<User>(.post, "/x", body: data)  // error: to expected argument type 'HTTPBody
    _ = Endpoint<Void>(.post, "/x", body: user)  // error: cannot convert value of type 'User' to expected argument type 'HTTPBody'
    _ = Endpoint<User>(.post, "/x", body: objects)  // error: to expected argument type 'HTTPBody'
    _ = Endpoint<User>(.post, "/x", body: .jsn(user))  // error: type 'HTTPBody?' has no member 'jsn'
    _ = Endpoint<User>(.post, "/x", body: .json(user))
    _ = Endpoint<User>(.post, "/x", body: isFull ? .json(["a": 1]) : nil)
    _ = Endpoint<User>(.post, "/x", body: body)
}

func timeouts() {
    _ = Endpoint<User>(.get, "/x", timeoutInterval: number)  // error: to expected argument type 'TimeInterval'
    _ = Endpoint<User>(.get, "/x", timeoutInterval: 30)
    _ = Endpoint<User>(.get, "/x", timeout: 30)  // error: extra argument 'timeout' in call
}

func responses(_ folder: URL) {
    _ = Endpoint<Plain>(.get, "/x")  // error: no exact matches in call to initializer
    _ = Endpoint<Model>(.get, "/x")  // error: type 'Model' does not conform to the 'Sendable' protocol
    _ = Endpoint(.get, "/x")  // error: ambiguous use of 'init(_:_:query:headers:body:timeoutInterval:)'
    _ = Endpoint(.get, "/x", downloadingTo: folder)
    _ = Endpoint(.get, "/x") { response in response.statusCode }
    let _: Endpoint<User> = Endpoint<[User]>(.get, "/x")  // error: cannot assign value of type 'Endpoint<[User]>' to type 'Endpoint<User>'
}

struct Misspelt: APIRequest {  // error: type 'Misspelt' does not conform to protocol 'APIRequest'
    var endPoint: Endpoint<User> { Endpoint(.get, "/x") }
}

func completions(_ provider: DefaultAPIProvider, _ request: Endpoint<User>) {
    _ = provider.request(request) { result in print(result) }  // error: extra trailing closure passed in call
    _ = provider.request(request).subscribe { result in print(result) }
}

extension APIRequest where Self == Endpoint<User> {
    static var me: Self { Endpoint(.get, "/user") }
}

func chains(_ provider: any APIProvider) {
    _ = provider.request(.me).flatMap { provider.request(Endpoint<User>(.get, $0.login)) }  // error: argument type 'RequestPath'
    _ = provider.request(.me).flatMap { provider.request(Endpoint<User>(.get, "/x", query: ["o": $0.logn])) }  // error: no member 'logn'
    _ = provider.request(.me).flatMap { _ in provider.request(Endpoint(.get, "/x")) }  // error: ambiguous use of 'init(
    _ = provider.request(.you)  // error: has no member 'you'
    _ = provider.request("/x")  // error: requires that 'String' conform to 'APIRequest'
}

func singles(_ provider: any APIProvider, _ search: Endpoint<[Item]>, _ queue: DispatchQueue) async throws {
    let _: [Item] = try await provider.request(search)  // error: cannot convert value of type 'Single<[Item]>' to specified type '[Item]'
    _ = provider.request(search).asObservable().map(\.count)  // error: value of type 'Single<[Item]>' has no member 'asObservable'
    _ = provider.request(search).observe(on: .main)  // error: reference to member 'main' cannot be resolved without a contextual type
    _ = provider.request(search).observe(on: queue)  // error: no exact matches in call to instance method 'observe'
}

// The module has the name of its protocol, so that a name cannot be looked up in it in the old way.
func headers() -> APIProvider.HTTPHeaders { [:] }  // error: 'HTTPHeaders' is not a member type of protocol 'APIProvider.APIProvider'
