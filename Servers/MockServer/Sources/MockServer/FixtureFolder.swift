import APIProviderMocks
package import Foundation

/// A folder whose files answer: `GET /a/b` from `a/b.json`. No file outside of it does.
package struct FixtureFolder: Sendable {
    private let root: URL

    /// - Throws: A sentence, if there is no such folder, or if it has no fixture.
    package init(_ url: URL) throws {
        root = url.resolvingSymlinksInPath()
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        guard files?.contains(where: { ($0 as? URL)?.pathExtension == "json" }) == true else {
            throw ServerError("The folder \(url.path) has no .json file. GET /a/b is answered from a/b.json in it.")
        }
    }

    /// Adds a stub for all fixtures, which are read when they are asked for.
    func addStub(to mock: MockURLProtocol.Type) {
        mock.stub(
            "the fixtures of \(root.lastPathComponent)", where: { [.get, .head].contains($0.method) && hasAnswer(to: $0.path) },
            isOptional: true, respond: .handler { (try? response($0.path.fixture, 200, [:])) ?? .status(404) })
    }

    /// Whether there is a fixture for a path, or the path leads out of the folder. No file has a name with two slashes.
    private func hasAnswer(to path: String) -> Bool {
        guard path.range(of: "//", options: .literal) == nil else { return false }
        do { return try file(at: path.fixture) != nil } catch { return true }
    }

    /// The answer with a file, which is read while it is sent; `nil` if there is none.
    ///
    /// - Throws: A sentence, if the path leads out of the folder.
    func response(_ path: String, _ status: Int, _ headers: Fields) throws -> StubResponse? {
        guard try file(at: path) != nil else { return nil }
        return .handler { _ in
            guard let file = try file(at: path), let handle = try? FileHandle(forReadingFrom: file) else { return .status(404) }
            var fields = (path.hasSuffix(".json") ? Fields(["Content-Type": "application/json"]) : [:]).merging(headers)
            fields["Content-Length"] = "\(try handle.seekToEnd())"
            try handle.seek(toOffset: 0)
            let feed = StreamFeed()
            Task {
                while !feed.isCancelled, let part = try? handle.read(upToCount: 256 << 10), !part.isEmpty {
                    feed.send(part)
                    await feed.waitUntilRead()
                }
                feed.finish()
                try? handle.close()
            }
            return .stream(from: feed, statusCode: status, headers: fields)
        }
    }

    /// The file; `nil` if there is none.
    ///
    /// - Parameter path: The path within the folder, decoded.
    /// - Throws: A sentence, if the path leads out of the folder.
    private func file(at path: String) throws -> URL? {
        let file = root.appendingPathComponent(path).resolvingSymlinksInPath()
        // By bytes: with a combining mark behind it, a slash is another character.
        let isWithin = file.path.utf8.starts(with: (root.path.hasSuffix("/") ? root.path : "\(root.path)/").utf8)
        let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
        guard names[0] != "", !path.contains("\0"), !names.contains(".."), isWithin else {
            throw ServerError("A fixture is a file in the folder that the server was started with.")
        }
        // Reading a pipe would wait for its writer.
        return (try? file.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true ? file : nil
    }
}

extension String {
    /// The fixture for this path of a request.
    fileprivate var fixture: String { "\(Substring(utf8.dropFirst())).json" }
}
