import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The parts of a HAR file that replay needs. Programs that write HAR files agree on little else.
struct Recording {
    struct Exchange {
        /// The position of the entry in the file.
        var index = 0
        let method: HTTPMethod
        let url: URL
        let answer: Answer
    }

    enum Answer {
        case response(status: Int, headers: HTTPHeaders, body: Data)
        case failure(RecordedFailure)
        /// The file does not have the answer.
        case unusable(reason: String)
    }

    /// In the order of the file.
    let exchanges: [Exchange]

    /// Throws an error with one sentence that starts with the name of the file.
    init(contentsOf file: URL) throws {
        let name = file.lastPathComponent
        guard file.isFileURL else { throw MockFailure("\(file.redacted) is no file, and no recording can be read from it.") }
        guard let data = try? Data(contentsOf: file) else {
            let isThere = FileManager.default.fileExists(atPath: file.path)
            throw MockFailure(isThere ? "\(name): it cannot be read (\(file.path))." : "\(name): there is no such file (\(file.path)).")
        }
        guard !data.isEmpty else { throw MockFailure("\(name): the file is empty.") }
        do {
            let decoder = JSONDecoder()
            if let key = CodingUserInfoKey.folder { decoder.userInfo[key] = file.deletingLastPathComponent() }
            let entries = try decoder.decodeAny(File.self, from: data).log.entries
            exchanges = entries.enumerated().compactMap { index, entry in
                var exchange = entry.exchange
                exchange?.index = index
                return exchange
            }
        } catch DecodingError.keyNotFound(let key, let context) where context.codingPath.isEmpty {
            throw MockFailure("\(name): this is no HAR file, for it has no \"\(key.stringValue)\".")
        } catch let error as DecodingError {
            throw MockFailure("\(name): \(error.finding(in: data)).")
        }
    }
}

private struct File: Decodable {
    struct Log: Decodable { let entries: [Entry] }
    let log: Log
}

/// An entry. It has no exchange if it is not HTTP.
private struct Entry: Decodable {
    let exchange: Recording.Exchange?

    private enum Key: CodingKey { case request, response, method, url, status, headers, content, _error, _resourceType }

    init(from decoder: any Decoder) throws {
        let entry = try decoder.container(keyedBy: Key.self)
        let request = try entry.nestedContainer(keyedBy: Key.self, forKey: .request)
        let address = try request.decode(String.self, forKey: .url)
        guard let url = URL(string: address), let scheme = url.scheme?.lowercased() else {
            throw DecodingError.dataCorruptedError(forKey: .url, in: request, debugDescription: "what should be a URL is none")
        }
        guard ["http", "https"].contains(scheme) else {
            exchange = nil
            return
        }
        guard url.host?.isEmpty == false else {
            throw DecodingError.dataCorruptedError(forKey: .url, in: request, debugDescription: "the URL has no host")
        }

        let method = HTTPMethod(rawValue: try request.decode(String.self, forKey: .method))
        guard try !entry.decodeNil(forKey: .response) else {
            exchange = Recording.Exchange(method: method, url: url, answer: .unusable(reason: "the recording has no response"))
            return
        }
        let response = try entry.nestedContainer(keyedBy: Key.self, forKey: .response)
        let answer: Recording.Answer
        switch try response.decode(Int.self, forKey: .status) {
        case 0:
            let reason = (try? response.decodeIfPresent(String.self, forKey: ._error)) ?? nil
            answer = .failure(RecordedFailure(text: reason ?? "the recording does not say why"))
        case 101:  // The start of a WebSocket.
            exchange = nil
            return
        case let status where 100...999 ~= status:
            let content = try response.decodeIfPresent(Content.self, forKey: .content)
            let fields = try response.decodeIfPresent([Field?].self, forKey: .headers) ?? []
            if let problem = content?.problem, method != .head, ![204, 304].contains(status) {
                answer = .unusable(reason: problem)
            } else {
                let body = content?.data ?? Data()
                let headers = HTTPHeaders(fields.compactMap { $0 }, method: method, bodySize: body.count)
                answer = .response(status: status, headers: headers, body: body)
            }
        case let status:
            answer = .unusable(reason: "\(status) is no HTTP status")
        }
        exchange = Recording.Exchange(method: method, url: url, answer: answer)
    }
}

extension CodingUserInfoKey {
    /// The folder of the recording.
    fileprivate static let folder = CodingUserInfoKey(rawValue: "folder")
}

private struct Field: Decodable {
    let name: String
    /// Some programs write `null` for a field that was not sent.
    let value: String?
}

private struct Content: Decodable {
    let data: Data
    /// The reason why the data is not the body. Otherwise `nil`.
    var problem: String?

    private enum Key: CodingKey { case size, text, encoding, _file }

    init(from decoder: any Decoder) throws {
        let content = try decoder.container(keyedBy: Key.self)
        if let name = try content.decodeIfPresent(String.self, forKey: ._file), let key = CodingUserInfoKey.folder,
            let folder = decoder.userInfo[key] as? URL
        {
            let file = folder.appendingPathComponent(name).standardized
            let isBeside = file.path.hasPrefix(folder.standardized.path + "/")
            let data = isBeside ? try? Data(contentsOf: file) : nil
            self.data = data ?? Data()
            problem = data == nil ? "its body is in the file \"\(name)\", which is not beside the recording" : nil
            return
        }
        guard let text = try content.decodeIfPresent(String.self, forKey: .text) else {
            data = Data()
            let size = (try? content.decodeIfPresent(Double.self, forKey: .size)) ?? 0
            if size > 0 { problem = "its body was not saved; export the recording with the bodies of responses" }
            return
        }
        switch try content.decodeIfPresent(String.self, forKey: .encoding)?.lowercased() {
        case nil, "":
            data = Data(text.utf8)
        case "base64":
            // Charles adds line breaks.
            guard let data = Data(base64Encoded: text) ?? Data(base64Encoded: text.filter { !$0.isWhitespace }) else {
                throw DecodingError.dataCorruptedError(forKey: .text, in: content, debugDescription: "what should be Base64 is none")
            }
            self.data = data
        case let encoding?:
            throw DecodingError.dataCorruptedError(
                forKey: .encoding, in: content, debugDescription: "\"\(encoding)\" is an encoding that only its writer knows")
        }
    }
}

extension HTTPHeaders {
    /// The fields for the body in the file, which is complete and decompressed.
    fileprivate init(_ fields: [Field], method: HTTPMethod, bodySize: Int) {
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
        if self["Content-Length"] != nil, method != .head { self["Content-Length"] = "\(bodySize)" }
    }
}
