// expect: errors at their lines
import APIProvider
import MiniRx

final class Model: Decodable { var name = "" }

struct Get: APIRequest {  // error: type 'Model' does not conform to the 'Sendable' protocol
    var endpoint: Endpoint<Model> {  // error: type 'Model' does not conform to the 'Sendable' protocol
        Endpoint(.get, "/x")  // error: type 'Model' does not conform to the 'Sendable' protocol
    }
}

func send(_ provider: DefaultAPIProvider) {
    _ = provider.request(Endpoint(.get, "/x"))  // error: ambiguous use of 'init(_:_:query:headers:body:timeoutInterval:)'
}
