import APIProvider
import Foundation

extension Matcher {
    /// The request's value in place of this expectation.
    func mismatch(with request: RequestLines, _ redactor: ReportRedactor) -> Mismatch {
        switch self {
        case .method(let method):
            return Mismatch("method", expected: method.rawValue, actual: request.request.method.rawValue)
        case .path(let pattern):
            let hint = pattern.hint(for: request.url.segments)
            return Mismatch("path", expected: pattern.description + hint, actual: redactor.path(request.url.path))
        case .origin(let expected):
            let actual = request.url.origin ?? "none"
            let isSameHost = expected.components(separatedBy: "://").last == actual.components(separatedBy: "://").last
            return Mismatch(isSameHost ? "scheme" : "host", expected: expected, actual: actual)
        case .query(let name, let values):
            let found = request.query.texts(at: name)
            let sides = [values, found.isEmpty ? request.formQuery.texts(at: name) : found].map {
                redactor.query($0.map { URLQueryItem(name: name, value: $0) })
            }
            return Mismatch("query", expected: sides[0], actual: sides[1].isEmpty ? "no \(name)" : sides[1])
        case .header(let name, let value):
            let actual = request.request.headers[name].map { "\(name): \(redactor.header(name, $0))" }
            return Mismatch("header", expected: "\(name): \(redactor.header(name, value))", actual: actual ?? "no \(name)")
        case .cookies(let pairs):
            let missing = pairs.values.keys.filter { !request.hasCookies(pairs, at: $0) }
            let others = missing.filter { request.cookies.values[$0] != nil }
            let actual = redactor.cookies(request.cookies, at: others.isEmpty ? Array(request.cookies.values.keys) : others)
            return Mismatch("header", expected: redactor.cookies(pairs, at: missing), actual: actual)
        case .body(let matcher): return matcher.mismatch(with: request.body, redactor).naming(redactor.partNames(of: request.body))
        case .condition(let condition):
            return Mismatch("closure", expected: condition.name, actual: "a request for which it returns false")
        }
    }
}

// MARK: - Bodies

extension BodyMatcher {
    /// Why no body can match; `nil` for a valid expectation.
    var problem: String? {
        switch expectation {
        case .unencodable(let reason): "its body cannot be encoded: \(reason)"
        case .parts(let parts): parts.values.lazy.compactMap(\.problem).first
        default: nil
        }
    }

    /// The GraphQL operation, for the stub's name, after the URL; `nil` without one.
    var summary: String? {
        guard case .lines(_, let text, .json, isSubset: true) = expectation else { return nil }
        return ReportRedactor.standard.excerpt(of: BodyLines(text)).cut(to: 80)
    }

    /// The body's value in place of this expectation.
    ///
    /// - Parameter part: The multipart part's place.
    func mismatch(with body: BodyLines, _ redactor: ReportRedactor, in part: String = "") -> Mismatch {
        guard !redactor.namesCredential(part) else { return Mismatch("body", expected: "…", actual: "…").at(part) }
        let sides: Mismatch
        switch expectation {
        case .lines(let lines, let text, let notation, let isSubset)
        where notation == .json || lines.hasPlace(of: body.lines(as: notation)):
            if let mismatch = mismatch(of: lines, with: body.lines(as: notation), isSubset, redactor, in: part) { return mismatch }
            sides = Mismatch("body", expected: BodyLines(text), actual: body, redactor)
        case .bytes(let bytes): sides = Mismatch("body", expected: BodyLines(bytes), actual: body, redactor)
        case .parts(let parts) where body.lines(as: .multipart) != nil:
            let others = parts.filter { name, matcher in !body.parts(named: name).contains(where: matcher.matches) }
            return Mismatch(
                "body",
                joining: others.sorted { $0.key < $1.key }.map { name, matcher in
                    let (place, found) = (part.member(name), body.parts(named: name).first)
                    if let found, !found.data.isEmpty { return matcher.mismatch(with: found, redactor, in: place) }
                    let expected = redactor.namesCredential(place) ? "…" : matcher.name(redactor)
                    return Mismatch("body", expected: expected, actual: found == nil ? "no such part" : "an empty part").at(place)
                })
        case .lines, .parts, .unreadable, .unencodable, .text, .condition:
            sides = Mismatch("body", expected: name(redactor), actual: redactor.excerpt(of: body))
        }
        return sides.at(part)
    }

    private func name(_ redactor: ReportRedactor) -> String {
        switch expectation {
        case .lines(_, let text, .json, _), .bytes(let text): redactor.excerpt(of: BodyLines(text))
        case .lines(let lines, _, _, _): redactor.list(lines).joined(separator: ", ")
        case .parts(let parts): "a multipart body with \(parts.keys.sorted().joined(separator: ", "))"
        case .unreadable(let text): "\(redactor.excerpt(of: BodyLines(text))) (this is not JSON, or is nested too deeply)"
        case .unencodable: "JSON, but its value cannot be encoded"
        case .text(let text): "text with \"\(redactor.body(BodyLines(text)) ?? "")\""
        case .condition(let condition): condition.name
        }
    }

    /// The different lines; `nil` if the whole texts tell more.
    private func mismatch(
        of lines: Lines, with actual: Lines?, _ isSubset: Bool, _ redactor: ReportRedactor, in part: String
    ) -> Mismatch? {
        guard let actual else { return nil }
        let places = lines.places(differingFrom: actual, isSubset: isSubset)
        if places.first == "", !lines.isArray || !actual.isArray { return nil }
        let mismatches = places.prefix(4).map { place in
            let isHidden = redactor.isHidden(lines, at: place) || redactor.isHidden(actual, at: place)
            let sides = [lines, actual].map { redactor.values(of: $0, at: place, isHidden: isHidden) }
            return Mismatch("body", expected: sides[0], actual: sides[1]).at(redactor.redacted(part.appending(place)))
        }
        let names = (lines.normalizingNames, actual.normalizingNames)
        let differsOnlyInSpelling = isSubset ? names.1.contains(names.0) : names.1 == names.0
        return Mismatch("body", joining: mismatches).adding(differsOnlyInSpelling ? Self.spellingHint : "")
    }

    private static let spellingHint =
        " (only the keys are spelled differently: for those of a type, set MockURLProtocol.encoder to the encoder of the app before this "
        + "stub)"
}

extension Lines {
    fileprivate var isArray: Bool { values[""]?.first?.kind == .array }

    /// Whether both have a line at the same place.
    fileprivate func hasPlace(of others: Lines?) -> Bool { values.keys.contains { others?.values[$0] != nil } }

    /// The same lines with lowercase names and no underscores: one name for `dueDate` and `due_date`.
    fileprivate var normalizingNames: Lines {
        Lines(Dictionary(values.map { ($0.lowercased().filter { $0 != "_" }, $1) }) { $0 + $1 })
    }
}
