// Mistakes in a closure that the compiler reports at the request, and the spellings for which it names the mistake.
import APIProvider
import MiniRx

struct Loan: Codable, Sendable {
    let id: Int
    let title: String
}

struct GetLoans: APIRequest {
    var endpoint: Endpoint<[Loan]> { Endpoint(.get, "/loans") }
}

extension APIRequest where Self == Endpoint<[Loan]> {
    static var loans: Self { Endpoint(.get, "/loans") }
}

func misspelt(_ provider: any APIProvider) {
    // error: cannot infer type of closure parameter '$0' without a type annotation
    _ = provider.request(GetLoans()).map { $0.filter { $0.titel == "" } }
    // error: cannot convert value of type 'GetLoans' to expected argument type 'Endpoint<Response>'
    _ = provider.request(GetLoans()).map { $0.map(\.titel) }
    _ = provider.request(GetLoans()).map { (loans: [Loan]) in loans.map(\.titel) }  // error: value of type 'Loan' has no member 'titel'
    let loans = provider.request(GetLoans())
    _ = loans.map { $0.map(\.titel) }  // error: value of type 'Loan' has no member 'titel'
}

func onTheMainActor(_ provider: any APIProvider) {
    // error: argument type 'MainActor' does not conform to expected type 'Scheduler'
    _ = provider.request(GetLoans()).observe(on: MainActor.shared).map { $0.count }
    _ = provider.request(GetLoans()).map { $0.count }.observe(on: MainActor.shared)
    // error: type 'Any' does not conform to the 'Sendable' protocol
    _ = provider.request(.loans).map { $0[0].id }.observe(on: MainActor.shared).subscribe(onSuccess: { print($0) })
    _ = provider.request(.loans).map { (loans: [Loan]) in loans[0].id }.observe(on: MainActor.shared).subscribe(onSuccess: { print($0) })
}
