import APIProvider
import APIProviderMocks
import Foundation

extension ReplaySource {
    struct Findings {
        var changes: [String] = []
        /// The requests that were not sent, because they carry what only a response can give.
        var skipped: [String] = []
        /// The requests that were not sent, because their methods may change something on the server.
        var unsafe: [String] = []
        var unreachable: [String] = []
    }

    /// Sends each GET and HEAD that has a recorded response again, as the test has sent it, and compares the responses with those of the
    /// file.
    func verify(asking transport: any Transport) async throws -> Findings {
        var findings = Findings()
        for (request, index) in answered {
            let entry = file.entries[index]
            let summary = "\(entry.exchange.requestSummary) (\(entry.entryPath))"
            guard [.get, .head].contains(request.method) else {
                findings.unsafe.append(summary)
                continue
            }
            guard let recorded = entry.exchange.response else { continue }
            let texts = [request.url.absoluteString] + request.headers.map(\.value)
            // The server would refuse a token or a cookie of a replayed response.
            let found = texts.flatMap { file.placeholders.occurrences(in: Array($0.utf8)) }
            if found.contains(where: { file.placeholders.isFromResponse($0.placeholder) }) {
                findings.skipped.append(summary)
                continue
            }
            do {
                let response = try await transport.sendStreamed(request).value
                findings.changes += try await recorded.changes(in: response).map { "\(summary): \($0)" }
            } catch let error as CancellationError {
                throw error
            } catch {
                findings.unreachable.append("\(summary): \(error.recordedReason)")
            }
        }
        return findings
    }
}

extension RecordedExchange.Response {
    /// The incompatible changes in `response`. Streams are compared by status and media type only, because they may not end.
    fileprivate func changes(in response: APIResponse) async throws -> [String] {
        guard response.statusCode == status else { return ["the status is \(response.statusCode), but was \(status)"] }
        let types = [response.value(forHTTPHeaderField: "Content-Type"), value(of: "Content-Type")].map { $0?.mediaType ?? "" }
        guard types[0] == types[1] else {
            let words = types.map { $0.isEmpty ? "missing" : $0 }
            return ["the media type is \(words[0]), but was \(words[1])"]
        }
        guard !types[0].isStreamOfLines, missingBodyReason == nil, let old = try? JSONTree(Data(body)) else { return [] }
        var data = Data()
        for try await chunk in ByteStream(response) { data += chunk }
        guard let tree = try? JSONTree(data) else { return ["the body is no longer JSON"] }
        return JSONShape(old).changes(in: JSONShape(tree))
    }
}
