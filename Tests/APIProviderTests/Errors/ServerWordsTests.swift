import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProvider
@testable import APIProviderTransport

@Suite("What servers say")
struct ServerWordsTests {
    private struct Thing: Decodable { let id: Int }

    private func error(_ status: Int, _ type: String, _ body: String) throws -> APIError {
        let url = try #require(URL(string: "https://api.example.com/v1/things?page=1&api_key=correcthorse"))
        let request = PreparedRequest(.get, url, headers: ["Authorization": "Bearer hunter2"])
        let response = APIResponse(to: request, statusCode: status, headers: ["Content-Type": type], data: Data(body.utf8))
        return try #require(throws: APIError.self) {
            guard status == 200 else { throw APIError.unacceptableStatus(response) }
            _ = try response.decode(Thing.self)
        }
    }

    @Test("The error shows the server's words, the field and the number that matters", arguments: ErrorBody.all)
    func words(body: ErrorBody) throws {
        let text = try error(body.status, body.type, body.text).description
        for words in body.words { #expect(text.contains(words), "\(text)") }
    }

    @Test("XML may begin with white space and a byte order mark", arguments: ["\t", "\n", "\r", " ", "\u{FEFF}", "\u{FEFF}\r\n\t "])
    func beginning(space: String) throws {
        let text = try error(404, "application/xml", "\(space)<Error><Message>No such key.</Message></Error>").description
        #expect(text.contains("No such key."), "\(text)")
    }

    /// A token, a key with the letters of an identifier, the number of a card, and two that only the request tells from words.
    private static let planted = [
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc", "0e3f5c6a-9b1d-4c57-8a2e-3d1f0b7c9e42", "4111111111111111", "hunter2", "correcthorse",
    ]

    @Test("No secret shows that stands in any of the texts, to the developer or to people", arguments: ErrorBody.all, planted)
    func secrets(body: ErrorBody, secret: String) throws {
        let text = try body.planting(secret)
        #expect(text.contains(secret))
        let error = try error(body.status, body.type, text)
        for shown in [error.description, error.localizedDescription, "\(error as NSError)"] {
            #expect(!shown.contains(secret), "\(shown)")
        }
    }
}

extension ErrorBody {
    /// The body with the secret in each text of its JSON, or at the end of each line and element.
    fileprivate func planting(_ secret: String) throws -> String {
        guard let json = try? JSONSerialization.jsonObject(with: Data(text.utf8)) else {
            return text.replacingOccurrences(of: #"([^>\n])(<|\n|$)"#, with: "$1 \(secret)$2", options: .regularExpression)
        }
        func planted(_ value: Any) -> Any {
            switch value {
            case let text as String: "\(text) \(secret), \(secret)"
            case let list as [Any]: list.map(planted)
            case let object as [String: Any]: object.mapValues(planted)
            default: value
            }
        }
        return String(decoding: try JSONSerialization.data(withJSONObject: planted(json)), as: UTF8.self)
    }
}
