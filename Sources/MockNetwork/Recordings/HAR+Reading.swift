import APIProvider
import Foundation

extension HAR {
    /// Reads the entries of a file in order. Throws an error with one sentence that starts with the name of the file.
    static func entries(of file: URL) throws -> [ReadEntry] {
        let name = file.lastPathComponent
        guard let data = try? Data(contentsOf: file) else { throw MockFailure("\(name): it cannot be read (\(file.path)).") }
        guard !data.isEmpty else { throw MockFailure("\(name): the file is empty.") }
        do {
            return try JSONDecoder().decodeWithoutTrapping(File.self, from: data).log.entries
        } catch DecodingError.keyNotFound(let key, let context) where context.codingPath.isEmpty {
            throw MockFailure("\(name): this is not a HAR file, because it has no \"\(key.stringValue)\".")
        } catch let error as DecodingError {
            throw MockFailure("\(name): \(error.finding(in: data, by: Redactor(.none))).")
        }
    }

    /// The bytes of each entry in the content of a file that was recorded, where the brackets of entries begin their lines.
    static func slices(of data: Data) -> [Data] {
        String(decoding: data, as: UTF8.self).components(separatedBy: "\n{\n").dropFirst().compactMap { text in
            text.range(of: "\n}").map { Data("{\n\(text[..<$0.upperBound])".utf8) }
        }
    }

    private struct File: Decodable {
        struct Log: Decodable { let entries: [ReadEntry] }
        let log: Log
    }

    fileprivate enum Key: CodingKey {
        case request, response, method, url, postData, bodySize, status, headers, content, size, text, encoding, comment, _error, _times
    }
}

extension HAR {
    /// An entry as replay reads it. If something in it cannot be read, only this entry fails.
    struct ReadEntry: Decodable {
        private(set) var method = ""
        private(set) var url = ""
        /// The body of the request. `nil` if it is unknown.
        private(set) var body: RecordedBody?
        /// `nil` if a program has recorded no response.
        private(set) var response: Result<Response?, any Error> = .success(nil)
        /// The reason why the request cannot be read. Otherwise `nil`.
        private(set) var problem: (any Error)?
        /// Whether a stub can answer from it. WebSockets, which start with the status 101, and `data:` URLs have none.
        private(set) var isHTTP = true

        init(from decoder: any Decoder) {
            do {
                let entry = try decoder.container(keyedBy: Key.self)
                let request = try entry.nestedContainer(keyedBy: Key.self, forKey: .request)
                method = (try? request.decode(String.self, forKey: .method)) ?? ""
                url = try request.decode(String.self, forKey: .url)
                guard let parsed = URL(string: url), let scheme = parsed.scheme?.lowercased() else {
                    throw DecodingError.dataCorruptedError(forKey: .url, in: request, debugDescription: "this is not a URL")
                }
                isHTTP = ["http", "https"].contains(scheme)
                guard isHTTP else { return }
                _ = try request.decode(String.self, forKey: .method)
                guard parsed.host?.isEmpty == false else {
                    throw DecodingError.dataCorruptedError(forKey: .url, in: request, debugDescription: "the URL has no host")
                }
                body = RecordedBody(request, method)
                response = Result { try entry.decode(Response?.self, forKey: .response) }.mapError(Self.reason)
                if case .success(let response?) = response { isHTTP = response.status != 101 }
            } catch {
                problem = Self.reason(error)
            }
        }

        private static func reason(_ error: any Error) -> any Error {
            (error as? DecodingError).map { MockFailure($0.finding(in: nil, by: Redactor(.none))) } ?? error
        }
    }
}

extension RecordedBody {
    fileprivate init?(_ request: KeyedDecodingContainer<HAR.Key>, _ method: String) {
        let size = try? request.decode(Int.self, forKey: .bodySize)
        guard let sent = (try? request.decodeIfPresent(HAR.PostData.self, forKey: .postData)) ?? nil else {
            // Some programs do not say that there is no body.
            guard size == 0 || ["GET", "HEAD"].contains(method) && size ?? -1 < 0 else { return nil }
            self.init(data: Data(), type: "")
            return
        }
        let data = sent._encoding == "base64" ? Data(base64Encoded: sent.text) : Data(sent.text.utf8)
        guard let data else { return nil }
        self.init(data: data, type: sent.mimeType, size: data.isEmpty ? size.flatMap { $0 > 0 ? $0 : nil } : nil)
    }
}

extension HAR.Response: Decodable {
    init(from decoder: any Decoder) throws {
        let response = try decoder.container(keyedBy: HAR.Key.self)
        status = try response.decode(Int.self, forKey: .status)
        _error = (try? response.decodeIfPresent(String.self, forKey: ._error)) ?? nil
        guard 100...999 ~= status, status != 101 else { return }
        headers = (try response.decodeIfPresent([HAR.Field?].self, forKey: .headers) ?? []).compactMap { $0 }
        content = try response.decodeIfPresent(HAR.Content.self, forKey: .content)
    }
}

extension HAR.Content: Decodable {
    init(from decoder: any Decoder) throws {
        let content = try decoder.container(keyedBy: HAR.Key.self)
        size = (try? content.decodeIfPresent(Double.self, forKey: .size)).flatMap { $0.flatMap { Int(exactly: $0.rounded()) } } ?? 0
        text = try content.decodeIfPresent(String.self, forKey: .text)
        comment = (try? content.decodeIfPresent(String.self, forKey: .comment)) ?? nil
        _times = (try? content.decodeIfPresent([Double].self, forKey: ._times)) ?? nil
        encoding = text == nil ? nil : try content.decodeIfPresent(String.self, forKey: .encoding)?.lowercased()
        guard [nil, "", "base64"].contains(encoding) else {
            let reason = "the encoding \"\(encoding ?? "")\" is unknown"
            throw DecodingError.dataCorruptedError(forKey: .encoding, in: content, debugDescription: reason)
        }
        guard body != nil else {
            throw DecodingError.dataCorruptedError(forKey: .text, in: content, debugDescription: "this is not Base64")
        }
    }
}
