import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("Time of recordings", tenMinutes, .serialized, .longComputing)
struct TimeTests {
    @Test("10,000 signed links are recorded in the time of 600 readings of their JSON, and other JSON of 5 MB in that of 80")
    func large() throws {
        // By day, a fifth of both. Beside other work, a processor needs more of its time for the same, and so for both sides.
        let share = isNight ? 1 : 5
        let links = (0..<10_000 / share).map { "{\"image\":\"https://cdn.example.com/i/\($0).png?sig=ab\($0)cd0\($0)ef\"}" }
        let items = (0..<13_000 / share).map {
            #"{"id":\#($0),"full_name":"octocat/repository-\#($0)","private":false,"html_url":"https://github.com/octocat/repository-\#($0)","#
                + #""description":"This is your \#($0)th repo!","created_at":"2011-01-26T19:01:12Z","topics":["octocat","atom","electron","api"],"#
                + #""owner":{"login":"octocat","id":\#($0),"avatar_url":"https://github.com/images/error/octocat_happy.gif?v=\#($0)"}}"#
        }
        for (elements, readings) in [(links, 600), (items, 80)] {
            let exchange = exchange(headers: ["Authorization": "Bearer k3y-of-the-first"], answer: "[\(elements.joined(separator: ","))]")
            let body = exchange.response?.body ?? Data()
            func reading() -> Double { cpuSeconds { for _ in 0..<readings / 20 { _ = try? JSONSerialization.jsonObject(with: body) } } }
            // Other work may begin or end meanwhile. The least of three times has the least of it.
            let before = reading()
            let times = (0..<(isNight ? 1 : 3)).map { _ in
                cpuSeconds {
                    let recording = NewRecording([exchange])
                    #expect(recording.problems == [] && !recording.text.isEmpty)
                }
            }
            let seconds = times.min() ?? .infinity
            let limit = 20 * max(before, reading())
            #expect(seconds < limit, "\(body.count) bytes took \(times) s")
        }
    }

    @Test("A film of 20 MB takes no time, whatever its media type says, and its bytes are searched for secrets")
    func film() {
        var film = exchange(headers: ["Authorization": "Bearer k3y-of-the-first"], type: "text/plain")
        let frame = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ $0 >> 7) })
        let frames = (0..<300).reduce(into: Data()) { data, _ in data += frame }
        film.response?.body = Data([0, 0, 0, 0x18]) + Data("ftypmp42".utf8) + frames
        let seconds = cpuSeconds { #expect(NewRecording([film]).problems == []) }
        #expect(seconds < 3, "\(seconds) s")
        film.response?.body += Data("k3y-of-the-first".utf8)
        #expect(NewRecording([film]).problems.first?.contains("has authorization-001 in the binary body of its response") == true)
    }

    private func requests(_ count: Int) -> [RecordedExchange] {
        (0..<count).map { number in
            sending(
                #"{"query":"mutation($id:ID!){node(id:$id){id}}","variables":{"id":"MDQ6VXNlc\#(number)"}}"#,
                to: "https://a.example/graphql",
                headers: ["Authorization": "Bearer k3y-of-the-first"], answer: "{\"n\":\(number),\"token\":\"abc123DEF\(number)\"}",
                at: number)
        }
    }

    @Test("Time is linear in the entries: of a recording, of one over an old file, and of a replay in any order")
    func entries() throws {
        let isInTime = isLinear(25) { count in
            let exchanges = requests(count)
            return cpuSeconds {
                let recording = NewRecording(exchanges)
                let again = NewRecording(
                    exchanges, RecordingOptions(), test: "Tests.swift session", name: "session.har", replacing: recording.file)
                #expect(recording.problems == [] && again.text == recording.text)
                var replay = recording.replay
                for exchange in exchanges.reversed() { #expect((try? replay.entry(for: exchange).get()) != nil) }
            }
        }
        #expect(isInTime)
    }

    @Test("Time is linear in the number of equal requests")
    func polls() throws {
        let isInTime = isLinear(200) { count in
            let exchanges = (0..<count).map { exchange(answer: "[\($0)]", at: $0) }
            return cpuSeconds {
                var replay = NewRecording(exchanges).replay
                for _ in 0..<2 { for exchange in exchanges { _ = replay.entry(for: exchange) } }
            }
        }
        #expect(isInTime)
    }

    @Test(
        "Text that looks like the beginning of many secrets is searched in time",
        arguments: [
            "-----BEGIN PRIVATE KEY-----", "eyJ.", "\\", "Bearer ", "a://b:", "a=", "<a>", "<a><![CDATA[", "aB", "\"a\":", "a[", "name=\"",
        ])
    func beginnings(text: String) {
        let isInTime = isLinear(300) { count in
            let exchange = exchange(answer: String(repeating: text, count: count), type: text.hasPrefix("<") ? "text/html" : "text/plain")
            return cpuSeconds { _ = NewRecording([exchange]) }
        }
        #expect(isInTime)
    }

    /// With the optimizer: `swift test -c release -Xswiftc -enable-testing --filter TimeTests`.
    @Test("8,000 entries are written, and replayed, within three seconds each", .disabled(if: _isDebugAssertConfiguration()))
    func eightThousand() throws {
        let exchanges = (0..<8_000).map { number in
            exchange(
                "GET", "https://a.example/items/\(number)", headers: ["Accept": "application/json"], answer: "{\"n\":\(number)}", at: number
            )
        }
        var (recording, data): (NewRecording?, Data?) = (nil, nil)
        let writing = cpuSeconds {
            recording = NewRecording(exchanges)
            data = recording?.file.data
        }
        #expect(recording?.problems == [])
        let file = try #require(data)
        let replaying = cpuSeconds {
            let options = RecordingOptions()
            guard let read = try? HARFile(file, name: "a.har") else { return #expect(Bool(false), "it cannot be read") }
            var replay = Replay(read, options)
            for exchange in exchanges.reversed() {
                guard let number = try? replay.entry(for: exchange).get(), let response = replay.entries[number].exchange.response
                else {
                    return #expect(Bool(false), "no answer")
                }
                let writer = ResponseWriter(placeholders: replay.placeholders, texts: replay.bindings.texts, elapsed: 9)
                _ = (writer.headers(response.headers), writer.body(response.body, response.type))
            }
        }
        #expect(writing < 3 && replaying < 3, "written in \(writing) s, replayed in \(replaying) s")
    }
}
