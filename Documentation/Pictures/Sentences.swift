import APIProvider
import Foundation
import MiniRx

/// The page of the guide with what each error says to people and to the developer.
func sentences() async throws -> (path: String, text: String) {
    let page = """
        # What an error says

        Two sentences: one for the app's users, and one for you.

        @Comment {
            `swift run documentation-pictures` writes this page.
        }

        ## Overview

        `localizedDescription` is for the screen, without methods, URLs, numbers and types. `recoverySuggestion` is the user's next step, if there is
        one. `description` is for you: `print`, logs and tests show it. No text of an error has a body: for the body, write `error.response?.text`.
        No sentence says when to try again: for a `Retry-After`, ask `error.response?.retryAfter()`. Where `description` says
        `failed in SignatureMiddleware`, that middleware of yours threw the error.

        ```swift
        func alert(for error: any Error) -> (title: String, message: String?) {
            print(error)
            let suggestion = (error as? any LocalizedError)?.recoverySuggestion
            return (error.localizedDescription, suggestion)
        }
        ```

        On Apple's systems, a `URLError` has the system's sentence, in the user's language. The other sentences are in English. For another language,
        switch over the error's case, `isOffline`, `isTimeout` and `statusCode`.

        ### There is no response

        \(await table(of: failures()))

        ### The server refuses

        `description` has the server's message, from the first of these places: `application/problem+json`; `error` with `error_description`; a text under
        `message`, `error` or `detail`; `error.message`; `errors[0].message`; the first line of `text/plain`; the error of a `WWW-Authenticate`. The
        screen shows a server's words only from `application/problem+json`, or from you. If your API puts its message elsewhere, tell the provider. Both
        texts then have that message:

        ```swift
        nonisolated struct APIFailure: Decodable { let reason: String }

        let provider = DefaultAPIProvider(
            baseURL: api, errorMessage: { try? $0.decode(APIFailure.self).reason })
        ```

        For a single endpoint, write `.option(\\.errorMessage, { … })`. The closure also gets a body that does not decode, such as the error of an
        API with status 200. It is not asked about an element of a stream, or about an error that a middleware throws.

        \(await table(of: refusals()))

        ### The request or the body is wrong

        \(await table(of: others))

        """
    return ("Documentation/Guide.docc/WhatAnErrorSays.md", page)
}

/// An error, and when it comes.
private struct Case: Sendable {
    var names: [String]
    let error: any Error

    var sentence: String { error.localizedDescription }
    var suggestion: String { (error as? any LocalizedError)?.recoverySuggestion ?? "" }
}

private func table(of cases: [Case]) async -> String {
    let rows = cases.map { row in
        let cells = [row.names.joined(separator: ", "), row.sentence, row.suggestion, "`\(row.error)`"]
        return "| " + cells.map { $0.replacingOccurrences(of: "|", with: "\\|") }.joined(separator: " | ") + " |"
    }
    return (["| Error | `localizedDescription` | `recoverySuggestion` | `description` |", "| --- | --- | --- | --- |"] + rows)
        .joined(separator: "\n")
}

/// The error of a request that `answer` answers.
private func error(
    _ answer: @escaping @Sendable (PreparedRequest) -> Single<APIResponse>, middlewares: [any Middleware] = [],
    errorMessage: (@Sendable (APIResponse) -> String?)? = nil
) async -> any Error {
    struct Item: Decodable, Sendable { let id: Int }
    let provider = DefaultAPIProvider(
        baseURL: URL(string: "https://api.example.com"), transport: ClosureTransport(answer), middlewares: middlewares,
        errorMessage: errorMessage)
    do {
        _ = try await provider.request(Endpoint<Item>(.get, "/items", query: ["page": 2])).value
        return CancellationError()
    } catch {
        return error
    }
}

private func response(
    _ status: Int, _ headers: HTTPHeaders = [:], _ body: String = "", errorMessage: (@Sendable (APIResponse) -> String?)? = nil
) async -> any Error {
    await error(
        { .just(APIResponse(to: $0, statusCode: status, headers: headers, data: Data(body.utf8))) }, errorMessage: errorMessage)
}

extension [Case] {
    /// One case for each pair of sentences, with the names of all that have it.
    fileprivate var grouped: [Case] {
        reduce(into: []) { rows, new in
            if let index = rows.firstIndex(where: { ($0.sentence, $0.suggestion) == (new.sentence, new.suggestion) }) {
                rows[index].names += new.names
            } else {
                rows.append(new)
            }
        }
    }
}

private func failures() async -> [Case] {
    let codes: [(String, URLError.Code)] = [
        ("notConnectedToInternet", .notConnectedToInternet), ("dataNotAllowed", .dataNotAllowed),
        ("internationalRoamingOff", .internationalRoamingOff), ("callIsActive", .callIsActive), ("timedOut", .timedOut),
        ("cannotConnectToHost", .cannotConnectToHost), ("cannotFindHost", .cannotFindHost), ("dnsLookupFailed", .dnsLookupFailed),
        ("networkConnectionLost", .networkConnectionLost), ("secureConnectionFailed", .secureConnectionFailed),
        ("serverCertificateUntrusted", .serverCertificateUntrusted), ("serverCertificateHasUnknownRoot", .serverCertificateHasUnknownRoot),
        ("clientCertificateRejected", .clientCertificateRejected), ("clientCertificateRequired", .clientCertificateRequired),
        ("serverCertificateHasBadDate", .serverCertificateHasBadDate), ("serverCertificateNotYetValid", .serverCertificateNotYetValid),
        ("badServerResponse", .badServerResponse), ("cannotParseResponse", .cannotParseResponse),
        ("cannotDecodeRawData", .cannotDecodeRawData), ("cannotDecodeContentData", .cannotDecodeContentData),
        ("zeroByteResource", .zeroByteResource), ("dataLengthExceedsMaximum", .dataLengthExceedsMaximum), ("badURL", .badURL),
        ("unsupportedURL", .unsupportedURL),
        ("appTransportSecurityRequiresSecureConnection", .appTransportSecurityRequiresSecureConnection), ("cancelled", .cancelled),
        ("httpTooManyRedirects", .httpTooManyRedirects),
    ]
    var cases: [Case] = []
    for (name, code) in codes { cases.append(Case(names: ["`.\(name)`"], error: await error { _ in .error(URLError(code)) })) }
    // What is not named above has the last sentence, or else a row of its own.
    for number in -3010 ... -1 {
        guard let code = URLError.Code(rawValue: number) as URLError.Code?, !codes.contains(where: { $0.1 == code }) else { continue }
        let other = Case(names: ["`URLError` \(number)"], error: await error { _ in .error(URLError(code)) })
        if cases.last.map({ $0.sentence == other.sentence }) != true { cases.append(other) }
    }
    var grouped = cases.grouped
    grouped[grouped.count - 1].names.append("any other `URLError`")
    for (name, code, reason) in [
        ("a full disk", .fileWriteOutOfSpace, "the disk is full"),
        ("another error of a file", .fileWriteNoPermission, "permission is denied"),
    ] as [(String, CocoaError.Code, String)] {
        let words = [NSLocalizedDescriptionKey: "the file cannot be written to photo.jpg: \(reason)."]
        let failed = await error { .error(APIError.transport($0, underlying: CocoaError(code, userInfo: words))) }
        grouped.append(Case(names: [name], error: failed))
    }
    return grouped + [Case(names: ["``/MiniRx/RxError/timeout``"], error: RxError.timeout)]
}

private func refusals() async -> [Case] {
    let json: HTTPHeaders = ["Content-Type": "application/json"]
    var cases = [
        Case(
            names: ["402, with a message"],
            error: await response(402, json, #"{"error":{"message":"Your card has insufficient funds.","code":"card_declined"}}"#)),
        Case(
            names: ["402, with problem details"],
            error: await response(
                402, ["Content-Type": "application/problem+json"], #"{"detail":"Your balance is 30, but that costs 50."}"#)),
        Case(
            names: ["422, with an `errorMessage`"],
            error: await response(422, json, #"{"reason":"The title is missing."}"#) { _ in "The title is missing." }),
        Case(
            names: ["422, with its message elsewhere"],
            error: await response(422, json, #"{"errors":{"email":["has already been taken"],"age":["is not a number"]}}"#)),
        Case(names: ["302, to a scheme other than HTTP"], error: await response(302, ["Location": "ftp://files.example.com/a"])),
    ]
    let statuses = Array(400...417) + [421, 422, 423, 424, 425, 426, 428, 429, 431, 451] + Array(500...508) + [510, 511]
    var plain: [Case] = []
    for status in statuses { plain.append(Case(names: ["\(status)"], error: await response(status))) }
    cases += plain.grouped
    return cases
}

private var others: [Case] {
    get async {
        let json: HTTPHeaders = ["Content-Type": "application/json"]
        struct SigningOut: Middleware {
            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> { .error(APIError.signedOut) }
        }
        struct Breaking: Middleware {
            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
                var request = request
                request.headers["X-Trace"] = "a\nb"
                return next(request)
            }
        }
        let never: @Sendable (PreparedRequest) -> Single<APIResponse> = { _ in .never() }
        return [
            Case(names: ["`.invalidRequest`"], error: await error(never, middlewares: [Breaking()])),
            Case(names: ["`.signedOut`"], error: await error(never, middlewares: [SigningOut()])),
            Case(names: ["`.decoding`"], error: await response(200, json, #"{"id":"7"}"#)),
            Case(
                names: ["`.decoding`, with an `errorMessage`"],
                error: await response(200, json, #"{"ok":false,"error":"channel_not_found"}"#) { _ in "channel_not_found" }
            ),
        ]
    }
}
