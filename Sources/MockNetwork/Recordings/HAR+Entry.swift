import APIProvider
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HAR.Entry {
    /// - Parameter names: The names whose values stay, in lower case. `nil` keeps everything.
    init(_ traffic: Traffic, keeping names: Set<String>? = []) {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        startedDateTime = formatter.string(from: traffic.started)
        time = (traffic.answer.duration * 1000).rounded()
        timings = HAR.Timings(wait: time)
        let redactor = RecordingRedactor(keeping: names, for: traffic.request)
        request = HAR.Request(traffic.request, redactor)
        response = HAR.Response(traffic.answer, to: traffic.request, redactor)
    }

    func encoded() throws -> Data {
        let encoder = JSONEncoder.sortingKeys
        encoder.outputFormatting.formUnion([.prettyPrinted, .withoutEscapingSlashes])
        return try encoder.encode(self)
    }
}

extension HAR.Request {
    fileprivate init(_ request: PreparedRequest, _ redactor: RecordingRedactor) {
        method = request.method.rawValue
        // The format leaves fragments out.
        url = redactor.url(String(request.url.absoluteString.prefix { $0 != "#" }))
        queryString = (URLComponents(string: url)?.queryItems ?? []).map { HAR.Field(name: $0.name, value: $0.value ?? "") }
        headers = request.headers.dictionary.fields(redactor)

        let type = request.headers["Content-Type"]
        let body = try? request.body?.data()
        postData = body.map { body in
            let kept = redactor.requestBody(body, contentType: type)
            let (text, encoding) = kept?.harText ?? ("", nil)
            return HAR.PostData(
                mimeType: type ?? "", text: text, _encoding: encoding,
                comment: kept == nil ? "The body of \(body.count) bytes was left out. Replay compares its size." : nil)
        }
        bodySize = body?.count ?? 0
    }
}

extension HAR.Response {
    fileprivate init(_ answer: Answer, to request: PreparedRequest, _ redactor: RecordingRedactor) {
        let chunks = answer.chunks
        let body = chunks.count == 1 ? chunks[0] : Data(chunks.joined())
        let response = answer.head.map { APIResponse(request: request, httpResponse: $0, data: body) }
        let failure = answer.failure?.recordedReason
        guard let response, failure == nil || response.isStreamOfLines else {
            status = 0
            content = HAR.Content(mimeType: "x-unknown", text: "")
            // The description of an app's own error may have secrets.
            _error = failure ?? URLError(.timedOut).recordedReason
            return
        }
        status = response.statusCode
        statusText = HTTPStatus.reasons[status] ?? ""
        headers = response.httpResponse.headerFields.fields(redactor)
        redirectURL = response.value(forHTTPHeaderField: "Location").map { redactor.header("Location", $0) } ?? ""
        let type = response.value(forHTTPHeaderField: "Content-Type")
        let kept = redactor.body(body, contentType: type)
        let (text, encoding) = kept?.harText ?? (nil, nil)
        content = HAR.Content(
            size: (kept ?? body).count, mimeType: type ?? "", text: text, encoding: encoding,
            comment: kept == nil ? .leftOut(type: type, size: body.count) : nil,
            _times: response.isStreamOfLines && encoding == nil ? answer.lineTimes : nil)
        _error = failure
    }
}

extension [String: String] {
    fileprivate func fields(_ redactor: RecordingRedactor) -> [HAR.Field] {
        sortedByName.map { HAR.Field(name: $0, value: redactor.header($0, $1)) }
    }
}

extension String {
    /// Why a recording has no body, and how to keep it. Replay says so, too.
    fileprivate static func leftOut(type: String?, size: Int) -> String {
        let start =
            "the recording left out its body (\(type.map { "\($0.mediaType), " } ?? "")\(size) bytes), which is neither JSON nor a form"
        let argument = type.map { "keeping: [\"\($0.mediaType)\"]" } ?? "redacting: .none"
        return "\(start); to keep it, give the recording \(argument)"
    }
}

extension Answer {
    /// In seconds.
    fileprivate var duration: TimeInterval {
        let delay = delay.isFinite ? max(0, delay) : 0
        return steps.reduce(delay) { if case .wait(let interval) = $1 { $0 + interval.seconds } else { $0 } }
    }

    /// The error by which it ends.
    fileprivate var failure: (any Error)? {
        for step in steps { if case .failure(let error) = step { return error } }
        return nil
    }

    /// When each line of the body came, in milliseconds since the head.
    fileprivate var lineTimes: [Double] {
        var (times, time, hasRest): ([Double], TimeInterval, Bool) = ([], 0, false)
        for step in steps {
            if case .wait(let interval) = step { time += interval.seconds }
            guard case .data(let chunk) = step else { continue }
            times += repeatElement((time * 1000).rounded(), count: chunk.count { $0 == 0x0A })
            hasRest = chunk.last != 0x0A
        }
        return times + (hasRest ? [(time * 1000).rounded()] : [])
    }
}

extension HAR {
    /// The requests of a mock and their answers as the content of a file.
    static func file(of traffic: [Traffic]) -> Data {
        file(
            of: traffic.compactMap { traffic in
                let answer = traffic.answer.within(traffic.request.timeoutInterval ?? 60)
                let isReport = answer.failure is MockFailure
                return try? Entry(
                    Traffic(
                        request: traffic.request, answer: isReport ? .failure(NoAnswerFromTheMock()) : answer, started: traffic.started)
                ).encoded()
            })
    }

    /// The beginning of a file, which says what it keeps.
    static func head(keeping names: Set<String>?) -> String {
        let kept = names.map { "Redaction.standard" + $0.sorted().map { ", \($0)" }.joined() } ?? "Redaction.none"
        let comment = String(decoding: kept.jsonString, as: UTF8.self)
        return #"{"log":{"version":"1.2","creator":{"name":"MockNetwork","version":"1.0","comment":\#(comment)},"entries":["#
    }

    /// The content of a file with these encoded entries.
    static func file(of entries: [Data], keeping names: Set<String>? = []) -> Data {
        var data = Data(head(keeping: names).utf8)
        for (index, entry) in entries.enumerated() {
            data += Data((index == 0 ? "\n" : ",\n").utf8)
            data += entry
        }
        return data + Data("\n]}}\n".utf8)
    }
}

/// A recording shows the name of an error's type.
private struct NoAnswerFromTheMock: Error {}
