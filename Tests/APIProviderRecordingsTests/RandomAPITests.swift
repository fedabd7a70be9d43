import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("Random APIs, recorded and replayed", tenMinutes)
struct RandomAPITests {
    /// The first promise of the three that does not hold; `nil` if all do.
    private func problem(_ api: RandomAPI, _ random: inout SeededGenerator) throws -> String? {
        let run = api.run(&random)
        let exchanges = api.exchanges(of: run)
        let options = RecordingOptions()
        let recording = NewRecording(exchanges, options, test: "T t", name: "r.har")
        guard recording.problems.isEmpty else { return "not written: \(recording.problems[0])" }

        // No secret stands in the file.
        let content = recording.file.data
        let secrets = recording.replacer.secrets.filter { $0.reach == .everywhere }.map(\.text)
        let planted = (run.environment + run.issued).filter(secrets.contains)
        let found = SecretCheck(planted).secrets(in: [UInt8](content))
        if let index = found.first { return "the file has \(planted[index])" }

        // Each request gets its own response, with other secrets in the environment.
        let other = api.run(&random)
        var replay = Replay(try HARFile(content, name: "r.har"), options)
        var (state, original) = (RandomAPI.State(run: other), RandomAPI.State(run: run))
        // Requests in flight together are sorted.
        let places = Dictionary(uniqueKeysWithValues: exchanges.ordered(options).enumerated().map { ($1.order.begin, $0) })
        for group in api.groups {
            var answers: [Int: RecordedExchange.Response] = [:]
            for index in group {
                switch replay.entry(for: api.request(index, state)) {
                case .failure(let failure): return "\(index): \(failure.description)"
                case .success(let place) where place != places[exchanges[index].order.begin]: return "\(index) got \(place)"
                case .success(let place):
                    guard let response = replay.entries[place].exchange.response else { return "no response" }
                    let writer = ResponseWriter(placeholders: replay.placeholders, texts: replay.bindings.texts, elapsed: 0)
                    answers[index] = .init(
                        statusCode: response.statusCode, headers: writer.headers(response.headers),
                        body: writer.body(response.body, response.type))
                }
            }
            for index in group {
                guard let response = answers[index] else { continue }
                let (value, expected) = (
                    api.take(response, of: index, &state), api.take(api.response(index, original), of: index, &original)
                )
                if let difference = difference(value, expected, run, other) { return "\(index): \(difference)" }
            }
        }

        // A server that has not changed does not change the file, but where a secret stays in clear.
        if api.hasOrdinarySecrets || recording.replacer.secrets.contains(where: { $0.reach == .named }) { return nil }
        var second = api.exchanges(of: other)
        for index in second.indices { second[index].started += 86_400 }
        let again = NewRecording(second, options, test: "T t", name: "r.har", replacing: recording.file)
        return again.file.data == content ? nil : "the second recording is another file"
    }

    /// What is not the same in a replayed value, but for secrets.
    private func difference(_ value: Any?, _ expected: Any?, _ run: RandomAPI.Run, _ other: RandomAPI.Run, at place: String = "") -> String?
    {
        switch (value, expected) {
        case (let value as [String: Any], let expected as [String: Any]):
            guard Set(value.keys) == Set(expected.keys) else { return "other members at \(place)" }
            return expected.keys.lazy.compactMap { difference(value[$0], expected[$0], run, other, at: "\(place).\($0)") }.first
        case (let value as [Any], let expected as [Any]):
            guard value.count == expected.count else { return "other elements at \(place)" }
            return zip(value, expected).lazy.compactMap { difference($0, $1, run, other, at: "\(place)[]") }.first
        case (let value as String, let expected as String):
            let secrets = run.issued + run.environment
            if place.hasSuffix(".echo"), let index = run.environment.firstIndex(of: expected) {
                // It is what the program has sent, if it has sent it.
                return value == other.environment[index] || !value.contains(expected) ? nil : "\(value) at \(place)"
            }
            let isSecret = secrets.contains { expected.contains($0) || expected.contains($0.escapedAsValue) }
            return value == expected || isSecret || expected.hasPrefix("{") ? nil : "\(value) is not \(expected) at \(place)"
        case (let value as NSNumber, let expected as NSNumber): return value == expected ? nil : "\(value) is not \(expected) at \(place)"
        case (is NSNull, is NSNull): return nil
        default: return "another kind at \(place)"
        }
    }

    @Test(
        "Each request gets its own response, no secret stands in the file, all decodes, and a second recording is the same file",
        .longComputing)
    func random() throws {
        // By day the same ones, so that no change fails by chance. At night others, each time.
        let chosen = rounds(1) == 1 ? 1 : UInt64.random(in: 0...UInt64.max / 2)
        let first = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? chosen
        var failures: [String] = []
        for seed in first..<first + UInt64(rounds(20)) {
            var random = SeededGenerator(seed: seed)
            let api = RandomAPI(&random)
            if let problem = try problem(api, &random) { failures.append("seed \(seed): \(problem)") }
        }
        #expect(failures.isEmpty, "\(failures.count) failed:\n\(failures.prefix(8).joined(separator: "\n"))")
    }
}
