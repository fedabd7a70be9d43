import APIProvider
import APIProviderMocks
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderTesting

private struct Missing: MockDTO {
    let fileName = "Serach"
    static var bundle: Bundle { .main }
}

/// An app that ignores its errors.
private func send(_ provider: DefaultAPIProvider, _ path: RequestPath = "/a", body: HTTPBody? = nil) async {
    _ = try? await provider.request(Endpoint<Data>(.post, path, body: body)).value
}

/// The issues that the trait would record for `test`.
private func reported(by test: @Sendable @escaping () async throws -> Void) async throws -> [(text: String, line: Int)] {
    let (log, current) = (Log<(text: String, line: Int)>(), try #require(Test.current))
    var trait = MockNetworkTrait.mockNetwork
    trait.record = { log.append(($0, $1.line)) }
    try await trait.provideScope(for: current, testCase: nil, performing: test)
    return log.entries
}

@Suite("A mistake in what a test sets up is an issue of that test, though the app ignores its errors", tenMinutes)
struct MistakeTests {
    static let mistakes: [(@Sendable () -> StubResponse, String)] = [
        ({ .fixture(Missing()) }, "There is no fixture \"Serach.json\""),
        ({ .json(Double.nan) }, "its value cannot be encoded"),
        ({ .json(["list": [1, .infinity]]) }, "at […]"),
        ({ .jsonLines([1, Double.nan]) }, "its value cannot be encoded"),
        ({ .handler { _ in .json(Double.nan) } }, "its value cannot be encoded"),
        ({ .handler { _ in .sequence([]) } }, "empty sequence"),
        ({ .handler { .json(try $0.json([String].self)) } }, "The stub's handler threw: "),
    ]

    @Test("A stub that cannot answer is an issue at its line, once", arguments: 0..<mistakes.count, Way.allCases)
    func stub(index: Int, way: Way) async throws {
        let (response, text) = Self.mistakes[index]
        let issues = try await reported {
            let provider = way.provider
            MockURLProtocol.stub(.post, "/a", line: 7, respond: response())
            for _ in 0..<2 { await send(provider) }
            #expect(throws: (any Error).self) { try MockURLProtocol.verify() }
        }
        #expect(issues.count == 1 && issues.first?.line == 7, "\(issues)")
        // It says so once.
        #expect(issues.first?.text.components(separatedBy: text).count == 2, "\(issues)")
    }

    @Test("A stub that can match nothing is an issue, also if it is optional")
    func unmatchable() async throws {
        let issues = try await reported {
            MockURLProtocol.stub(.post, "/a", respond: .status(200))
            MockURLProtocol.stub(.post, "/a", body: .json(Double.nan), isOptional: true, line: 7, respond: .status(200))
            MockURLProtocol.stub(.post, "/a", body: .json(containing: [Double.nan]), isOptional: true, line: 8, respond: .status(200))
            MockURLProtocol.stub(.post, "a", isOptional: true, line: 9, respond: .status(200))
            await send(mocked)
        }
        #expect(issues.map(\.line) == [7, 8, 9], "\(issues)")
        #expect(issues.prefix(2).allSatisfy { $0.text.components(separatedBy: "cannot be encoded").count == 2 }, "\(issues)")
    }

    @Test("The one fixture for everything is an issue if it is missing, and an error of the mock that the test throws is not told twice")
    func defaultFixture() async throws {
        let issues = try await reported {
            MockURLProtocol.responseWithDTO(type: Missing())
            _ = try await mocked.request(Endpoint<Data>(.get, "/a")).value
        }
        #expect(issues.count == 1 && issues[0].text.hasPrefix("There is no fixture"), "\(issues)")
    }

    @Test("The error of a request without an answer that a test throws is one issue, from a provider and from a session of its own")
    func thrown() async throws {
        let senders: [@Sendable () async throws -> Void] =
            Way.allCases.map { way -> @Sendable () async throws -> Void in
                { _ = try await way.provider.request(Endpoint<Data>(.get, "/a")).value }
            } + [{ _ = try await URLSession(configuration: MockURLProtocol.configuration).data(for: URLRequest(url: example)) }]
        for send in senders {
            let issues = try await reported { try await send() }
            #expect(issues.count == 1 && issues[0].text.contains("has no answer for this request"), "\(issues)")
        }
        // An error of the app with the same words is its own.
        await #expect(throws: TestError.self) {
            _ = try await reported {
                await send(mocked)
                throw TestError(MockURLProtocol.problems[0].text)
            }
        }
    }

    @Test("A fixture that is there and cannot be read is an issue that names it")
    func unreadableFixture() async throws {
        let folder = TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        try FileManager.default.createDirectory(at: folder.url("search.old"), withIntermediateDirectories: true)
        struct Unreadable: MockDTO {
            @TaskLocal static var path = ""
            let fileName = "search.old"
            static var bundle: Bundle { Bundle(path: path) ?? .main }
        }
        try await Unreadable.$path.withValue(folder.url.path) {
            for setUp: @Sendable () -> Void in [
                { MockURLProtocol.responseWithDTO(type: Unreadable()) },
                { MockURLProtocol.stub(.post, "/a", respond: .fixture(Unreadable())) },
            ] {
                let issues = try await reported {
                    setUp()
                    await send(mocked)
                }
                #expect(issues.count == 1 && issues.first?.text.contains("The fixture \"search.old\" cannot be read") == true, "\(issues)")
            }
        }
    }

    @Test(
        "A provider that outlives its scope gets an error that says so, which is an issue of the test that uses it, and of no other",
        arguments: Way.allCases)
    func endedScope(way: Way) async throws {
        let provider = await MockURLProtocol.withScope("ended") {
            MockURLProtocol.stub(.post, "/a", respond: .status(200))
            let provider = way.provider
            await send(provider)
            return provider
        }
        let issues = try await reported {
            let other = MockURLProtocol.withScope("another test") { MockURLProtocol.current }
            let error = try await provider.failure(of: Endpoint<Data>(.post, "/a"))
            #expect(error.description.contains(#"This request's scope, "ended", has ended"#), "\(error)")
            #expect(!other.problems.contains { $0.text.contains("Create the provider") })
        }
        #expect(issues.count == 1 && issues[0].text.contains("Create the provider or the session in the test"), "\(issues)")
        // Nobody's task has sent this one.
        let none = try await reported { await Task.detached { await send(provider) }.value }
        #expect(none.isEmpty, "\(none)")
    }

    @Test("A session of a scope that has ended is an issue of the test that uses it")
    func endedSession() async throws {
        let session = MockURLProtocol.withScope("ended") { URLSession(configuration: MockURLProtocol.configuration) }
        let issues = try await reported { _ = try? await session.data(for: URLRequest(url: example)) }
        #if canImport(FoundationNetworking)
        #expect(issues.count == 1, "\(issues)")
        #else
        // A session may ask its protocol classes on a thread of its own.
        #expect(issues.count <= 1, "\(issues)")
        #endif
    }

    @Test("An error that a stub is to give is no mistake")
    func wanted() async throws {
        let issues = try await reported {
            for response in [StubResponse.failure(TestError()), .handler { _ in throw TestError() }, .status(500)] {
                MockURLProtocol.stub(.post, "/a", times: 1, respond: response)
                await send(mocked)
            }
        }
        #expect(issues.isEmpty, "\(issues)")
    }
}
