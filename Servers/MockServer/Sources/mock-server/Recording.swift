@_spi(Serving) import APIProviderRecordings
import Foundation
import MockServer

/// An origin of the HAR file `file`, whose entries answer by their paths; `nil` if it has none.
///
/// - Throws: A sentence, if two origins share a path.
func servedOrigin(of file: URL) throws -> String? {
    struct HAR: Decodable {
        struct Log: Decodable { let entries: [Entry] }
        struct Entry: Decodable { let request: Request }
        struct Request: Decodable { let url: String }
        let log: Log
    }
    // A clear sentence about a file that is no HAR is that of the replay.
    let entries = (try? JSONDecoder().decode(HAR.self, from: Data(contentsOf: file)))?.log.entries ?? []
    var origins: [String: String] = [:]
    for entry in entries {
        guard let url = URLComponents(string: entry.request.url), let scheme = url.scheme, let host = url.host else { continue }
        let origin = "\(scheme)://\(host)\(url.port.map { ":\($0)" } ?? "")"
        if let other = origins.updateValue(origin, forKey: url.path), other != origin {
            throw ServerError("\(file.lastPathComponent) has \(url.path) of \(other) and of \(origin). Choose one: --origin \(other)")
        }
    }
    return origins.min { $0.key < $1.key }?.value
}

/// Runs `operation` in a scope whose requests go to their server, and writes them to `file` at the end.
///
/// - Parameter warn: Gets sentences about the file, such as about requests without an answer, which are not in it.
/// - Throws: The error of `operation`, or why the file is not written.
func record(to file: URL, warn: (String) -> Void, _ operation: () async throws -> Void) async throws {
    let parent = file.deletingLastPathComponent()
    guard FileManager.default.isWritableFile(atPath: "\(parent.path)/.") else {
        throw ServerError("\(file.path) cannot be written: there is no folder \(parent.path) to write into.")
    }
    guard !FileManager.default.fileExists(atPath: "\(file.path)/.") else {
        throw ServerError("\(file.path) cannot be written: it is a folder.")
    }
    // An exchange without an answer would be a failure in each replay.
    let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
    let result: Result<Void, any Error>
    do {
        try await MockURLProtocol.record(
            to: file,
            editing: {
                $0.isLeftOut = $0.response == nil
                answer.yield(!$0.isLeftOut)
            }, warn: { warn($0.withoutSwift) }, operation: operation)
        result = .success(())
    } catch { result = .failure(error) }
    answer.finish()
    let (count, missing) = await answers.reduce(into: (0, 0)) { $0 = ($0.0 + 1, $0.1 + ($1 ? 0 : 1)) }
    guard missing == 0 || missing < count else {
        throw ServerError("\(file.lastPathComponent) was not written, because the server answered no request.")
    }
    try result.get()
    if missing > 0 { warn("\(file.lastPathComponent) was written without \(missing) of \(count) requests, which had no answer.") }
}
