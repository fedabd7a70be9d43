import Foundation

@testable import APIProvider
@testable import APIProviderTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// libFuzzer calls this with one input after the other. The bytes must give the same events, lines and values whole and in pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // The first byte sets the length of the pieces. The rest is the input.
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    guard let first = input.first else { return 0 }
    let whole = Array(input.dropFirst())
    // Every second input is for the parsers, because writing a file for each would take most of the time.
    guard first % 2 == 0 else {
        parse(whole, in: folder)
        return 0
    }
    let length = Int(first % 16) / 2 + 1
    let pieces = stride(from: 0, to: whole.count, by: length).map { Array(whole[$0..<min($0 + length, whole.count)]) }

    let splitter = LineSplitter(maxSize: 4096)
    func events(_ pieces: [[UInt8]]) -> [ServerSentEvent] {
        var parser = EventParser(response: response, maxSize: 4096)
        return elements(pieces, splitter, includesUnterminatedLine: false) { try parser.parse($0, into: &$1) }
    }
    precondition(events([whole]) == events(pieces))
    precondition(elements([whole], splitter, TextLines.parse) == elements(pieces, splitter, TextLines.parse))
    let lineSplitter = LineSplitter(endsAtCarriageReturn: false, maxSize: 4096)
    func values(_ pieces: [[UInt8]]) -> [[String: Int]] { elements(pieces, lineSplitter, JSONLines.parser(of: response)) }
    precondition(values([whole]) == values(pieces))
    return 0
}

private let folder = FileManager.default.temporaryDirectory

private let response: APIResponse = {
    guard let url = URL(string: "https://api.example.com/events"),
        let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["Content-Type": "text/event-stream"])
    else { fatalError("There is no response.") }
    return APIResponse(request: PreparedRequest(.get, url), httpResponse: head, data: Data())
}()

/// The elements that `parse` reads from the pieces, up to an error.
private func elements<Element>(
    _ pieces: [[UInt8]], _ splitter: LineSplitter, includesUnterminatedLine: Bool = true, _ parse: StreamIterator<Element>.Parse
) -> [Element] {
    var (splitter, elements) = (splitter, [Element]())
    do {
        for piece in pieces {
            try piece.withUnsafeBufferPointer { bytes in try splitter.split(bytes) { try parse($0, &elements) } }
        }
        if includesUnterminatedLine { try splitter.finish { try parse($0, &elements) } }
    } catch {}
    return elements
}
