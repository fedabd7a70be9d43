import APIProvider
import Foundation

extension Recording {
    /// The stubs that replay these entries, one for each method, URL and body, in the order of the file.
    func stubs(for entries: [HAR.ReadEntry]) -> [ReplayedEntries] {
        entries.indices.filter { entries[$0].isHTTP }.grouped { entries[$0].identity(at: $0, in: self) }.map { _, group in
            let places = group.map { "\(file.lastPathComponent): log.entries[\($0)]" }
            let responses = zip(group, places).map { StubResponse(replaying: entries[$0], at: $1, forAnyHost: isForAnyHost) }
            let stub = stub(for: entries[group[0]], at: places[0], response: .repeatingLast(responses))
            return ReplayedEntries(stub: stub, entries: group.map { entries[$0] }, places: places)
        }
    }

    private func stub(for entry: HAR.ReadEntry, at place: String, response: StubResponse) -> Stub {
        let url = URLParts(entry.url)
        let origin = isForAnyHost ? nil : url.origin
        let query = url.formQuery
        return Stub(
            summary: entry.url.isEmpty ? "an entry" : "\(entry.method) \(origin ?? "")\(url.path)\(query.isEmpty ? "" : "?" + query.shown)",
            matchers: [
                .method(HTTPMethod(rawValue: entry.method)), .path(PathPattern(segments: url.segments, isRecorded: true)),
                .origin(origin), .wholeQuery(query, ignoring: ignored),
            ] + (entry.body.map { [.recordedBody($0, by: RecordingRedactor(keeping: names, for: nil), ignoring: ignored)] } ?? []),
            isOptional: true, place: Stub.Place(fileID: place, filePath: place, line: 0, column: 0), response: response,
            problem: entry.problem.map { "its request cannot be read: \($0.localizedDescription)" })
    }
}

/// The entries that answer the same requests one after the other, and their stub.
struct ReplayedEntries: Sendable {
    var stub: Stub
    let entries: [HAR.ReadEntry]
    let places: [String]
}

extension HAR.ReadEntry {
    /// The same for requests that are answered one after the other.
    struct Identity: Equatable {
        let key: [ByteString]
        let body: RecordedBody.Content?
    }

    /// - Parameter index: Tells entries apart that cannot be read.
    func identity(at index: Int, in recording: Recording) -> Identity {
        guard problem == nil else { return Identity(key: [ByteString("\(index)")], body: nil) }
        let url = URLParts(url)
        let origin = recording.isForAnyHost ? "" : url.origin ?? ""
        let query = url.formQuery.without(recording.ignored).sortedByName.flatMap { [$0.name, $0.value ?? ""] }
        let redactor = RecordingRedactor(keeping: recording.names, for: nil)
        return Identity(
            key: ([method, origin] + url.segments + ["?"] + query).map { ByteString($0) },
            body: body.map { $0.content(by: redactor, ignoring: recording.ignored) })
    }

    /// The response. `nil` if there is none, or if it cannot be read.
    var recorded: HAR.Response? { (try? response.get()) ?? nil }

    /// What the recording has not, for a warning. `nil` if it has everything.
    var omission: String? {
        guard let content = recorded?.content, content.text == nil, let comment = content.comment else { return nil }
        return "\(method) \(url): \(comment)"
    }
}

extension Sequence {
    /// The elements of the same identity together, in the order of the first of each.
    func grouped(by identity: (Element) -> HAR.ReadEntry.Identity) -> [(identity: HAR.ReadEntry.Identity, elements: [Element])] {
        var groups: [(identity: HAR.ReadEntry.Identity, elements: [Element])] = []
        var indices: [[ByteString]: [Int]] = [:]
        for element in self {
            let identity = identity(element)
            if let index = indices[identity.key]?.first(where: { groups[$0].identity == identity }) {
                groups[index].elements.append(element)
            } else {
                indices[identity.key, default: []].append(groups.count)
                groups.append((identity, [element]))
            }
        }
        return groups
    }
}

extension StubResponse {
    /// - Parameters:
    ///   - entry: The recorded request and its response.
    ///   - place: The place in the file, such as `search.har: log.entries[3]`.
    ///   - isForAnyHost: Whether links and redirects to the recorded origin lead to the host that is asked.
    fileprivate init(replaying entry: HAR.ReadEntry, at place: String, forAnyHost isForAnyHost: Bool) {
        do {
            guard let response = try entry.response.get() else { throw MockFailure("the recording has no response") }
            let status = response.status
            guard status != 0 else { throw URLError(recordedReason: response._error ?? "the recording does not say why") }
            guard 100...999 ~= status else { throw MockFailure("\(status) is not an HTTP status") }
            let isWithoutBody = entry.method == "HEAD" || status == 204 || status == 304
            let body = isWithoutBody ? Data() : try response.content?.savedBody(isRequired: 200...299 ~= status) ?? Data()
            var headers = HTTPHeaders(response.headers, bodySize: entry.method == "HEAD" ? nil : body.count)
            if isForAnyHost, let origin = URLParts(entry.url).origin {
                headers["Link"] = headers["Link"]?.replacingOccurrences(of: "<\(origin)/", with: "</")
                if let location = headers["Location"], location.hasPrefix("\(origin)/") {
                    headers["Location"] = String(location.dropFirst(origin.count))
                }
            }
            guard let times = response.content?._times else {
                self = .data(body, statusCode: status, headers: headers)
                return
            }
            let failure = response._error.map { [StubResponse.Step.failure(URLError(recordedReason: $0))] } ?? []
            self = .stream(body.steps(at: times) + failure, statusCode: status, headers: headers)
        } catch let reason as MockFailure {
            self = .failure(MockFailure("\(place) cannot be answered from: \(reason)."))
        } catch {
            self = .failure(error)
        }
    }
}

extension Data {
    /// The lines at these times, in milliseconds. Lines after the last time come with it.
    fileprivate func steps(at times: [Double]) -> [StubResponse.Step] {
        var (steps, now, rest): ([StubResponse.Step], Double, Data) = ([], 0, self)
        for (index, time) in times.enumerated() where !rest.isEmpty {
            let end = index == times.count - 1 ? nil : rest.firstIndex(of: 0x0A)
            let line = rest[...(end ?? rest.endIndex - 1)]
            if time > now { steps.append(.wait(DispatchTimeInterval(seconds: (time - now) / 1000))) }
            now = Swift.max(now, time)
            steps.append(.data(Data(line)))
            rest = rest.dropFirst(line.count)
        }
        return steps
    }
}

extension HAR.Content {
    /// The body. Throws an error that says why there is none, if there should be one.
    ///
    /// - Parameter isRequired: Whether a body that the recording has left out is an error. Otherwise it is empty.
    func savedBody(isRequired: Bool = true) throws -> Data {
        guard text != nil || size <= 0 || !isRequired else {
            throw MockFailure(
                comment.flatMap { $0.isEmpty ? nil : $0 } ?? "its body was not saved; export the recording with the bodies of responses")
        }
        return body ?? Data()
    }
}

extension HTTPHeaders {
    /// The fields for the body in the file, which is complete and decompressed. A HEAD keeps its `Content-Length`.
    fileprivate init(_ fields: [HAR.Field], bodySize: Int?) {
        self.init()
        for field in fields {
            // Firefox joins fields of the same name with line breaks, and HTTP/2 has fields such as `:status`.
            guard let value = field.value?.split(whereSeparator: \.isNewline).joined(separator: ", "),
                (try? HTTPHeaders.check(field.name, value)) != nil
            else { continue }
            self[field.name] = self[field.name].map { "\($0), \(value)" } ?? value
        }
        self["Transfer-Encoding"] = nil
        self["Content-Encoding"] = nil
        if self["Content-Length"] != nil, let bodySize { self["Content-Length"] = "\(bodySize)" }
    }
}
