// expect: errors at their lines
// What people write who come from elsewhere: it either means what it says, or the message names the cure.
import APIProvider
import Foundation
import MiniRx

struct User: Codable, Sendable { let login: String }
struct Plain: Sendable { let login: String }
class Model: Decodable { var login = "" }

enum Kind: String { case open }

let constant = "/x"
let optional: String? = nil
let number = 30
let method = "POST"

func paths(_ path: String, _ url: URL) {
    _ = Endpoint<User>(.get, constant)  // error: write the path as a literal
    _ = Endpoint<Void>(.get, path)  // error: write the path as a literal
    _ = Endpoint<User>(.get, path.dropFirst())  // error: write the path as a literal
    _ = Endpoint<User>(.get, url)  // error: write a whole URL as .url(url)
    _ = Endpoint<User>(.get, RequestPath(path))
    _ = Endpoint<User>(.get, .url(url))
    _ = Endpoint<User>(.get, "/users/\(path)")
    _ = Endpoint<User>(.get, "/users/\(number)/\(Date())/\(Kind.open)")
    _ = Endpoint<User>(.get, "/users/\(optional)")  // error: unwrap the value
}

func methods() {
    _ = Endpoint<User>("POST", "/x")
    _ = Endpoint<User>(.post, "/x")
    _ = Endpoint<User>(method, "/x")  // error: cannot convert value of type 'String' to expected argument type 'HTTPMethod'
}

func headersAndQueries(_ headers: [String: String], _ etag: String?, _ ids: [any QueryValue]) {
    _ = Endpoint<User>(.get, "/x", headers: headers)  // error: write HTTPHeaders(dictionary)
    _ = Endpoint<User>(.get, "/x", query: headers)  // error: write QueryParameters(dictionary)
    _ = Endpoint<User>(.get, "/x", query: QueryParameters(headers), headers: HTTPHeaders(headers))
    _ = Endpoint<User>(.get, "/x", headers: ["If-None-Match": etag])
    _ = Endpoint<User>(.get, "/x", query: ["a": ids.queryValues, "b": Set([1]), "c": Character("x"), "d": Decimal(1)])
    _ = Endpoint<User>(.get, "/x", query: ["a": constant.prefix(1), "b": [1, 2], "c": etag])
    _ = Endpoint<User>(.get, "/x", query: QueryParameters(["a": 1]) + QueryParameters(["b": 1 as any QueryValue]))
    _ = Endpoint<User>(.get, "/x", parameters: ["q": 1], headers: [:])  // error: parameters go into query:
    _ = Endpoint<User>(.get, "/x", parameters: ["q": 1])  // error: parameters go into query:, or into a body: .json(…) or .form(…)
}

func bodies(_ user: User, _ data: Data?, _ objects: [String: Any], _ body: HTTPBody?, _ isFull: Bool) {
    _ = Endpoint<User>(.post, "/x", body: data)  // error: write what kind of body it is
    _ = Endpoint<User>(.post, "/x", body: number)  // error: write what kind of body it is
    _ = Endpoint<Void>(.post, "/x", body: user)  // error: write what kind of body it is
    _ = Endpoint<User>(.post, "/x", body: ["a": 1])  // error: write what kind of body it is
    _ = Endpoint<User>(.post, "/x", body: objects)  // error: to expected argument type 'HTTPBody'
    _ = Endpoint<User>(.post, "/x", body: .json(["a": 1, "b": "x"]))  // error: values of several types need an Encodable struct
    _ = Endpoint<User>(.post, "/x", body: .jsn(user))  // error: type 'HTTPBody?' has no member 'jsn'
    _ = Endpoint<User>(.post, "/x", body: .json(user))
    _ = Endpoint<User>(.post, "/x", body: isFull ? .json(["a": 1]) : nil)
    _ = Endpoint<User>(.post, "/x", body: body)
}

func timeouts() {
    _ = Endpoint<User>(.get, "/x", timeoutInterval: number)  // error: to expected argument type 'TimeInterval'
    _ = Endpoint<User>(.get, "/x", timeoutInterval: 30)
    _ = Endpoint<User>(.get, "/x", timeout: 30)  // error: the label is timeoutInterval:
}

func responses(_ folder: URL) {
    _ = Endpoint<Plain>(.get, "/x")  // error: make the type of the response Decodable
    _ = Endpoint<Model>(.get, "/x")  // error: type 'Model' does not conform to the 'Sendable' protocol
    _ = Endpoint(.get, "/x")  // error: ambiguous use of 'init(
    _ = Endpoint(.get, "/x", downloadingTo: folder)
    _ = Endpoint(.get, "/x") { response in response.statusCode }
    let _: Endpoint<User> = Endpoint<[User]>(.get, "/x")  // error: cannot assign value of type 'Endpoint<[User]>' to type 'Endpoint<User>'
}

struct Misspelt: APIRequest {  // error: type 'Misspelt' does not conform to protocol 'APIRequest'
    var endPoint: Endpoint<User> { Endpoint(.get, "/x") }
}

struct Earlier: APIRequest {  // error: type 'Earlier' does not conform to protocol 'APIRequest'
    typealias Response = User
    let path: RequestPath = "/x"
}

func completions(_ provider: DefaultAPIProvider, _ other: any APIProvider, _ request: Endpoint<User>) {
    _ = provider.request(request) { result in print(result) }  // error: provider.request(…).subscribe { result in … }
    _ = other.request(request) { (result: Result<User, any Error>) in print(result) }  // error: subscribe to what request(_:) returns
    _ = provider.request(request).subscribe { result in print(result) }
}

extension APIRequest where Self == Endpoint<User> {
    static var me: Self { Endpoint(.get, "/user") }
}

func chains(_ provider: any APIProvider, _ headers: [String: String]) {
    _ = provider.request(.me).flatMap { provider.request(Endpoint<User>(.get, $0.login)) }  // error: write the path as a literal
    _ = provider.request(.me).flatMap { provider.request(Endpoint<User>(.get, "/x", query: ["o": $0.logn])) }  // error: no member 'logn'
    _ = provider.request(.me).flatMap { _ in provider.request(Endpoint<User>(.get, "/x", headers: headers)) }  // error: write HTTPHeaders(
    _ = provider.request(.me).flatMap { provider.request(Endpoint<User>(.post, "/x", body: $0)) }  // error: write what kind of body it is
    _ = provider.request(.me).flatMap { _ in provider.request(Endpoint(.get, "/x")) }  // error: ambiguous use of 'init(
    _ = provider.request(.you)  // error: has no member 'you'
    _ = provider.request("/x")  // error: requires that 'String' conform to 'APIRequest'
}
