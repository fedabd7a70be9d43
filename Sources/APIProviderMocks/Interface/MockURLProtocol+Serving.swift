import APIProvider
public import Foundation

// For a server that serves a scope to other processes. A server runs for days, so the scope keeps only the newest requests.
extension MockURLProtocol {
    /// The report on a request without an answer, from its `error`; `nil` for a stub's own error.
    @_spi(Serving) public static func report(of error: any Error) -> String? {
        isProblem(error) ? "\((error as? APIError)?.underlying ?? error)" : nil
    }

    /// Keeps only the scope's newest requests: at most `count`, with at most `byteCount` bytes in all bodies together.
    @_spi(Serving) public static func keepRequests(_ count: Int, byteCount: Int) {
        scope.contents.withLock { $0.limit = (count, byteCount) }
    }

    /// The number of requests removed by the limit.
    @_spi(Serving) public static var removedRequestCount: Int { scope.contents.withLock(\.removedRequestCount) }

    /// Removes received requests and their problems, and keeps the stubs with their numbers of uses.
    @_spi(Serving) public static func forgetRequests() {
        var old = Scope.Contents()
        scope.contents.withLock { contents in
            swap(&contents.requests, &old.requests)
            swap(&contents.problems, &old.problems)
            swap(&contents.failures, &old.failures)
            (contents.requestByteCount, contents.removedRequestCount) = (0, 0)
        }
    }

    /// Ends `stub`: the stub answers no more requests, and ``verify()`` ignores it.
    @_spi(Serving) public static func remove(_ stub: Stub) {
        // Released after unlocking.
        _ = scope.contents.withLock { contents in
            contents.stubs.firstIndex { $0.id == stub.id }.map { (contents.stubs.remove(at: $0), contents.uses.remove(at: $0)) }
        }
    }

    /// The numbers of requests answered by each of `stubs`.
    @_spi(Serving) public static func useCounts(of stubs: [Stub]) -> [Int] {
        let counts = scope.contents.withLock { Dictionary(zip($0.stubs.map(\.id), $0.uses)) { first, _ in first } }
        return stubs.map { counts[$0.id] ?? 0 }
    }
}

extension ReceivedRequest {
    /// The URL, the headers and the body without secrets, as in reports.
    ///
    /// - Parameter maximumBodySize: The number of body bytes to show.
    /// - Returns: The redacted parts. The body is `nil` if empty, not text, or longer than sixteen times that size.
    @_spi(Serving) public func redacted(
        maximumBodySize: Int
    ) -> (url: String, headers: [(name: String, value: String)], body: String?) {
        let redactor = redactor
        // Only the whole body reveals each secret.
        let isShown = !body.isEmpty && body.count / 16 <= maximumBodySize
        let text = isShown ? redactor.body(BodyLines(body, type: headers["Content-Type"] ?? "")) : nil
        return (
            redactor.url(url.absoluteString), headers.map { ($0.name, redactor.header($0.name, $0.value)) },
            text.map { String(decoding: $0.utf8.prefix(maximumBodySize), as: UTF8.self) }
        )
    }
}

// MARK: - JSON as it was written

extension Data {
    /// This JSON with some values as strings of their text, so that a decoder keeps each digit, and the order of members.
    ///
    /// - Parameter isQuoted: Gets the names of a member and of the objects around it, the outermost first. No member deeper than ten is asked
    ///   for: all the names around it would take a time that grows with the square of the depth.
    /// - Throws: A sentence with the line, if this is not JSON.
    @_spi(Serving) public func quotingJSON(where isQuoted: ([String]) -> Bool) throws -> Data {
        var tokens = JSONTokens(self)
        var (result, end) = ([UInt8](), 0)
        // The current name in each open object and array.
        var names: [String] = []
        do {
            while let token = try tokens.next() {
                switch token.kind {
                case .beginObject, .beginArray: names.append("")
                case .endObject, .endArray: names.removeLast()
                case .name:
                    names[names.count - 1] = tokens.text(of: token)
                    guard names.count <= 10, isQuoted(names.filter { !$0.isEmpty }), let first = try tokens.next() else { continue }
                    var last = first
                    let isContainer = first.kind == .beginObject || first.kind == .beginArray
                    let depth = tokens.depth
                    while isContainer, tokens.depth >= depth, let next = try tokens.next() { last = next }
                    let text = String(decoding: tokens.bytes[first.range.lowerBound..<last.range.upperBound], as: UTF8.self)
                    result += tokens.bytes[end..<first.range.lowerBound] + text.jsonString
                    end = last.range.upperBound
                default: break
                }
            }
        } catch {
            throw MockFailure("Line \(tokens.bytes.prefix(tokens.position).count { $0 == 0x0A } + 1) is not JSON.")
        }
        return Data(result + tokens.bytes[end...])
    }
}

extension BodyMatcher {
    /// Matches JSON that contains the JSON in `text`.
    @_spi(Serving) public static func json(containingText text: String) -> BodyMatcher {
        BodyMatcher(Data(text.utf8), .json, isSubset: true) ?? BodyMatcher(expectation: .unreadable(Data(text.utf8)))
    }
}
