package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension URL {
    /// The URL for people: no user and password, `…` for every query value, no fragment.
    package var redacted: String { Redactor(for: .sentence).url(self) }
}

extension URLRequest {
    /// `GET https://api.example.com/search?q=…`
    package var line: String { line(by: Redactor(for: .sentence)) }

    func line(by redactor: Redactor) -> String { "\(httpMethod ?? "GET") \(url.map(redactor.url) ?? "(no URL)")" }
}
