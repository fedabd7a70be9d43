@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderTransport

@Suite("Errors and texts that Apple's Foundation changes", tenMinutes)
struct AppleFoundationTests {
    private struct Sentence: Error, CustomStringConvertible, Equatable {
        let description: String
    }

    private enum Plain: Error { case out }

    private struct Localized: LocalizedError {
        let errorDescription: String? = "It is localized."
    }

    /// Reports an error as Apple's session passes it on: as a copy.
    private final class CopyingProtocol: StubProtocol {
        override func startLoading() {
            let error = Sentence(description: "The queue is closed.").bridgedThroughSession as NSError
            fail(NSError(domain: error.domain, code: error.code, userInfo: error.userInfo))
        }
    }

    @Test("An error of a protocol class comes out unchanged, though the session copies it")
    func throughSession() async throws {
        let provider = DefaultAPIProvider(configuration: CopyingProtocol.configuration)
        let error = try await #require(throws: APIError.self) { try await provider.request(Endpoint<Void>(.get, .url(example))).value }
        #expect(error.underlying as? Sentence == Sentence(description: "The queue is closed."))
        #expect(error.description.contains("failed: The queue is closed."))
    }

    @Test("A session asks a protocol class")
    func ownSession() async throws {
        let session = URLSession(configuration: CopyingProtocol.configuration)
        let error = await #expect(throws: (any Error).self) { try await session.data(from: example) }
        #expect((error as NSError?)?.localizedDescription == "The queue is closed.")
    }

    @Test(
        "A copy of a packed error has the domain, the code and the sentence of the original",
        arguments: [
            (Sentence(description: "The queue is closed."), "The queue is closed."), (Plain.out, "out"), (Localized(), "It is localized."),
            (NSError(domain: "d", code: 7, userInfo: [NSLocalizedDescriptionKey: "It is old."]), "It is old."),
        ] as [(any Error, String)])
    func carried(error: any Error, sentence: String) {
        let carried = error.bridgedThroughSession as NSError
        let copy = NSError(domain: carried.domain, code: carried.code, userInfo: carried.userInfo)
        #expect(copy.localizedDescription == sentence)
        #expect(copy.domain == (error as NSError).domain)
        #expect(copy.code == (error as NSError).code)
        #expect(type(of: copy.unpackedFromSession) == type(of: error))
    }

    @Test(
        "UTF-8 that was read as Latin-1 is read again, and nothing else is",
        arguments: [
            ("plain", "plain"), ("n\u{C3}\u{A9}", "né"), ("né", "né"), ("\u{ED}\u{95}\u{9C}", "한"), ("한 \u{C3}\u{A9}", "한 \u{C3}\u{A9}"),
            ("\u{EF}\u{BB}\u{BF}a", "\u{FEFF}a"),
        ])
    func latin1(read: String, text: String) { #expect(read.readAsUTF8.hasSameBytes(as: text)) }

    @Test(
        "A Location gets the escapes that it lacks, and nothing else changes",
        arguments: [
            ("/a b/é?q=<x>|{y}#\"z\"", "/a%20b/%C3%A9?q=%3Cx%3E%7C%7By%7D#%22z%22"),
            ("https://h:1/a%20b;c=1?d=e&f=g+h", "https://h:1/a%20b;c=1?d=e&f=g+h"), ("../x~y'(z)*!$,@", "../x~y'(z)*!$,@"),
            ("/%4?%zz=%", "/%254?%25zz=%25"), ("http://[::1]:80/[a]", "http://[::1]:80/%5Ba%5D"), ("//[::1]?[a]", "//[::1]?%5Ba%5D"),
            ("a//[b]", "a//%5Bb%5D"),
        ])
    func location(text: String, escaped: String) {
        #expect(text.escapedAsURL == escaped)
        #expect(URL(string: escaped) != nil)
    }
}
