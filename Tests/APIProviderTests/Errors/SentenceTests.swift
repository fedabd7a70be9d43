import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("What an error says to people")
struct SentenceTests {
    private struct Refusal: LocalizedError, CustomStringConvertible {
        let description = "queue 7 of sync.swift is closed"
        let errorDescription: String? = "Sync is off."
    }

    private enum Plain: Error { case out }

    private static let request = PreparedRequest("DELETE", "https://api.example.com/users/hunter?a=b")

    private static func status(_ code: Int, _ headers: HTTPHeaders = [:], _ body: String = "") -> APIError {
        .unacceptableStatus(APIResponse(to: request, statusCode: code, headers: headers, data: Data(body.utf8)))
    }

    private static func transport(_ error: any Error) -> APIError { .transport(request, underlying: error) }

    @Test("An error of a file is explained by its cause if that is one of the system")
    func fileErrors() {
        let causes = [NSPOSIXErrorDomain, "example"].map { NSError(domain: $0, code: Int(ENOENT)) }
        let explanations = causes.map { CocoaError(.fileReadUnknown, userInfo: [NSUnderlyingErrorKey: $0]).explanation }
        #expect(explanations[0] == String(cString: strerror(ENOENT)))
        #expect(explanations[1] != explanations[0])
    }

    @Test(
        "An error has a sentence for people, and what they can do if there is anything",
        arguments: [
            (transport(URLError(.notConnectedToInternet)), "There is no network connection.", "Check the connection, and try again."),
            (transport(URLError(.timedOut)), "The server took too long to answer.", "Check the connection, or try again later."),
            (transport(URLError(.cannotFindHost)), "The server was not found.", "Check the connection, and try again."),
            (transport(URLError(.networkConnectionLost)), "The connection to the server was lost.", "Try again."),
            (
                transport(URLError(.serverCertificateHasBadDate)), "A secure connection to the server could not be made.",
                "Check the date and time on your device."
            ),
            (transport(URLError(.unknown)), "The request could not be completed.", nil),
            (
                transport(NSError(domain: NSURLErrorDomain, code: -1001)), "The server took too long to answer.",
                "Check the connection, or try again later."
            ),
            (transport(RxError.timeout), "It took too long.", nil), (transport(Refusal()), "Sync is off.", nil),
            (transport(Plain.out), "The request could not be completed.", nil),
            (transport(NSError(domain: "d", code: 7, userInfo: [NSLocalizedDescriptionKey: "It is old."])), "It is old.", nil),
            (transport(CocoaError(.fileWriteOutOfSpace)), "There is no space left on the device.", nil),
            (transport(CocoaError(.fileReadNoPermission)), "A file could not be read or written.", nil),
            (.signedOut, "You are signed out.", "Sign in again."),
            (.invalidRequest(reason: "its path is no path", underlying: Plain.out), "The request could not be made.", nil),
            (status(401), "Your sign-in was not accepted.", "Sign in again."), (status(404), "This was not found.", nil),
            (status(422), "The server could not do this.", nil), (status(302), "The server could not do this.", nil),
            (status(403), "You are not allowed to do this.", nil), (status(410), "This was not found.", nil),
            (status(408), "The server took too long to answer.", "Try again later."),
            (status(504), "The server took too long to answer.", "Try again later."),
            (status(409), "This was changed in the meantime.", nil), (status(412), "This was changed in the meantime.", nil),
            (status(413), "This is too large for the server.", nil),
            (status(500), "The server has a problem.", "Try again later."),
            (status(505), "The server has a problem.", "Try again later."),
            (status(503), "The server is not available.", "Try again later."),
            // A time is not in the sentence, and makes none: see `retryAfter()`.
            (status(503, ["Retry-After": "1"]), "The server is not available.", "Try again later."),
            (status(429, ["Retry-After": "7200"]), "Too many requests were sent.", "Try again later."),
            (status(413, ["Retry-After": "60"]), "This is too large for the server.", nil),
        ] as [(APIError, String, String?)])
    func sentences(error: APIError, sentence: String, suggestion: String?) {
        #expect(error.localizedDescription == sentence)
        #expect(error.errorDescription == sentence)
        #expect(error.recoverySuggestion == suggestion)
    }

    @Test("No sentence of ours has a method, a URL, a number, a status or the name of a type")
    func plain() {
        let codes = Set((-3010 ... -1).compactMap { URLError.Code(rawValue: $0) as URLError.Code? })
        #expect(codes.count > 40)
        let body = APIResponse(to: Self.request, data: Data("[1]".utf8))
        var errors = codes.map { Self.transport(URLError($0)) } + (100...599).map { Self.status($0) }
        errors += [
            .signedOut, .invalidRequest(reason: "GET 1"), .decoding(body, expected: "Int", underlying: Plain.out),
            Self.transport(Plain.out),
        ]
        for error in errors {
            for text in [error.errorDescription ?? "", error.recoverySuggestion ?? "."] {
                #expect(text.hasSuffix("."))
                let isPlain = !text.contains { $0.isNumber || "/:_()".contains($0) } && !text.contains("Error") && !text.contains("DELETE")
                #expect(isPlain, "\(text)")
            }
            #expect(error.recoverySuggestion != "")
        }
    }

    @Test("An NSError has the sentence for people, what they can do, and the developer's sentence")
    func bridged() throws {
        let error = Self.transport(URLError(.notConnectedToInternet))
        let bridged = error as NSError
        #expect(bridged.localizedDescription == "There is no network connection.")
        #expect(bridged.localizedRecoverySuggestion == "Check the connection, and try again.")
        #expect(bridged.userInfo[NSDebugDescriptionErrorKey] as? String == error.description)
        #expect(
            error.description == "DELETE https://api.example.com/users/hunter?a=… failed: there is no network connection (URLError -1009).")
    }

    @Test("The developer's sentence of an underlying error is in the developer's sentence, and the one for people is not")
    func underlying() {
        #expect(Self.transport(RxError.timeout).description.hasSuffix("failed: No event arrived in time."))
        #expect(Self.transport(Refusal()).description.hasSuffix("failed: queue 7 of sync.swift is closed"))
        let inner = APIError.invalidRequest(reason: "no", underlying: Self.status(404))
        #expect(inner.description.contains("DELETE https://api.example.com/users/hunter?a=… failed: 404 Not Found"), "\(inner)")
    }

    @Test("What an app asks of an error")
    func kinds() {
        for (error, isOffline, isTimeout) in [
            (Self.transport(URLError(.notConnectedToInternet)), true, false), (Self.transport(URLError(.dataNotAllowed)), true, false),
            (Self.transport(URLError(.timedOut)), false, true), (Self.transport(URLError(.cannotConnectToHost)), false, false),
            (Self.transport(NSError(domain: NSURLErrorDomain, code: -1001)), false, true), (.signedOut, false, false),
            (Self.status(504), false, false),
        ] {
            #expect(error.isOffline == isOffline && error.isTimeout == isTimeout, "\(error)")
        }
        #expect(APIError.signedOut.description == "The request was not completed: its user has signed out.")
        #expect(APIError.signedOut.underlying == nil && APIError.signedOut.response == nil)
        #expect(APIError.invalidRequest(reason: "no").underlying == nil)
    }

    @Test("A key of a dictionary is part of the value and is left out of a coding path, and the name of a property stays")
    func keys() throws {
        let request = PreparedRequest("GET")
        func error<T: Decodable>(_ type: T.Type, _ body: String) -> String {
            let response = APIResponse(to: request, data: Data(body.utf8))
            let failure = #expect(throws: APIError.self) { try response.decode(type) }
            return failure?.description ?? "no error"
        }
        #expect(error([String: Int].self, #"{"ada":"x"}"#).contains("expected Int at […], found a string"))
        #expect(error([String: [Int]].self, #"{"ada":[1,true]}"#).contains("expected Int at […][1], found a boolean"))
        struct Named: Decodable { let abcdefgh12345678: Int, list: [String: Named]? }
        #expect(error(Named.self, "{}").contains("abcdefgh12345678 is missing (2 bytes)."))
        #expect(
            error(Named.self, #"{"abcdefgh12345678":1,"list":{"a":{"abcdefgh12345678":null}}}"#).contains(
                "expected Int at list[…].abcdefgh12345678, found null"))
        // A case is in the source, but a value that it has is not.
        for (key, text) in [(CaseKey.abcdefgh12345678, "abcdefgh12345678"), (.other("hgfedcba87654321"), "[…]")] {
            let error = EncodingError.invalidValue(Double.nan, .init(codingPath: [key], debugDescription: "It is NaN."))
            let invalid = APIError.invalidRequest(reason: "no", underlying: error)
            #expect(invalid.description == "The request was not sent: no (It is NaN at \(text)).")
        }
    }

    private enum Color: String, Decodable { case red }

    private struct Quoting: Decodable {
        struct Refused: Error { let value: String }

        init(from decoder: any Decoder) throws {
            throw Refused(value: try decoder.singleValueContainer().decode(String.self))
        }
    }

    @Test("An error of decoding has the kind of the problem and its place, and no value, whoever throws it")
    func values() throws {
        let iso = JSONDecoder()
        iso.dateDecodingStrategy = .iso8601
        let custom = JSONDecoder()
        custom.dateDecodingStrategy = .custom { throw Quoting.Refused(value: try $0.singleValueContainer().decode(String.self)) }
        func error<T: Decodable>(_ type: T.Type, _ body: String = #"{"a":"s3cret"}"#, _ decoder: JSONDecoder = iso) throws -> APIError {
            let response = APIResponse(to: Self.request, data: Data(body.utf8)).with(decoder: decoder)
            return try #require(throws: APIError.self) { try response.decode(type) }
        }
        let errors = [
            (try error([String: Color].self), "the value at […] is not valid"),
            (try error([String: UUID].self), "the value at […] is not valid"),
            (try error([String: Date].self), "a date is not in ISO 8601"),
            (try error([String: Quoting].self), "Quoting.Refused was thrown"),
            (try error([String: Date].self, #"{"a":"s3cret"}"#, custom), "Quoting.Refused was thrown"),
            (try error([String: Int8].self, #"{"a":300}"#), "it is not valid JSON, or a number does not fit its type"),
            (try error(Color.self, "<html>s3cret"), "it is not valid JSON"),
            (try error(Int.self, ""), "the body is empty where Int was expected"),
        ]
        for (error, words) in errors {
            #expect(error.description.contains(words), "\(error)")
            #expect(error.statusCode == 200 && !"\(error)\(error as NSError)".contains("s3cret"), "\(error)")
        }
    }

    private enum CaseKey: CodingKey {
        case abcdefgh12345678
        case other(String)

        var stringValue: String { if case .other(let text) = self { text } else { "abcdefgh12345678" } }
        var intValue: Int? { nil }
        init?(stringValue: String) { self = .other(stringValue) }
        init?(intValue: Int) { nil }
    }

}
