// Expectations in the closures of the mock.
// flags: -swift-version 6
import APIProvider
import APIProviderMocks
import Foundation
import Testing

struct Note: Codable, Sendable {
    let text: String
}

func handlers() {
    MockURLProtocol.stub(
        .post, "/notes",
        respond: .handler { request in
            let note = try request.json(Note.self)
            #expect(note.text == "tea")
            let first = try #require(request.queryItems.first)
            return .json([first.name])
        })
    MockURLProtocol.stub(
        .post, "/notes",
        respond: .handler { request in
            #expect(try request.json(Note.self).text == "tea")  // error: errors thrown from here are not handled
            return .status(204)
        })
}

func conditions() {
    MockURLProtocol.stub(
        where: {
            #expect($0.method == .post)
            return true
        }, respond: .status(204))
    MockURLProtocol.stub(
        where: {  // error: invalid conversion from throwing function of type
            try #require($0.url.host != nil)
            return true
        }, respond: .status(204))
}
