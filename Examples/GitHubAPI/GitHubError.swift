public import Foundation

/// The body of a response with which the REST API refuses a request: `try error.response?.decode(GitHubError.self)`.
public struct GitHubError: Error, Decodable, Sendable {
    /// A sentence about what is wrong.
    public let message: String
    /// The page that explains the error.
    public let documentationURL: String?
    /// The problems with single fields.
    public let errors: [Detail]?

    /// A problem with one field.
    public struct Detail: Sendable {
        /// The kind of resource that has the field.
        public let resource: String?
        /// The name of the field.
        public let field: String?
        /// `missing`, `missing_field`, `invalid`, `already_exists`, `unprocessable` or `custom`.
        public let code: String?
        /// A sentence about what is wrong.
        public let message: String?
    }

    private enum CodingKeys: String, CodingKey {
        case message, errors
        case documentationURL = "documentation_url"
    }
}

extension GitHubError.Detail: Decodable {
    private enum CodingKeys: String, CodingKey {
        case resource, field, code, message
    }

    /// GitHub answers some requests with a string instead of an object.
    public init(from decoder: any Decoder) throws {
        if let words = try? decoder.singleValueContainer().decode(String.self) {
            self.init(resource: nil, field: nil, code: nil, message: words)
        } else {
            let object = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                resource: try object.decodeIfPresent(String.self, forKey: .resource),
                field: try object.decodeIfPresent(String.self, forKey: .field),
                code: try object.decodeIfPresent(String.self, forKey: .code),
                message: try object.decodeIfPresent(String.self, forKey: .message))
        }
    }
}

extension GitHubError: LocalizedError, CustomStringConvertible {
    /// What the developer reads: the message and the problems with fields: `Validation Failed (Search.q: missing)`.
    public var description: String {
        let details = (errors ?? []).map(\.description).filter { !$0.isEmpty }
        guard !details.isEmpty else { return message }
        return "\(message.hasSuffix(".") ? String(message.dropLast()) : message) (\(details.joined(separator: "; ")))"
    }

    /// What GitHub says to people: about a field, if it has words about one, or else the message. Codes and names of fields are left out.
    public var errorDescription: String? {
        let words = (errors ?? []).lazy.compactMap(\.message).first ?? message
        return words.hasSuffix(".") ? words : words + "."
    }
}

extension GitHubError.Detail: CustomStringConvertible {
    /// The field and its message, or its code if there is no message: `Search.q: missing`.
    public var description: String {
        let name = [resource, field].compactMap { $0 }.joined(separator: ".")
        return [name, message ?? code ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
