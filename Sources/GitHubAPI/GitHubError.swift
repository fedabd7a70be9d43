public import Foundation

/// What the REST API says of a request that it refuses: `try error.response?.decode(GitHubError.self)`.
public struct GitHubError: Error, Decodable, Sendable {
    /// What is wrong.
    public let message: String
    /// Where it is explained.
    public let documentationURL: String?
    /// What is wrong with each field.
    public let errors: [Detail]?

    /// What is wrong with one field.
    public struct Detail: Sendable {
        /// The kind of thing that the field is of.
        public let resource: String?
        /// The field.
        public let field: String?
        /// `missing`, `missing_field`, `invalid`, `already_exists`, `unprocessable` or `custom`.
        public let code: String?
        /// What is wrong, in words.
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

    /// Some requests are answered with words alone in the place of an object.
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
    /// What is wrong, and with which fields: `Validation Failed (Search.q: missing)`.
    public var description: String {
        let details = (errors ?? []).map(\.description).filter { !$0.isEmpty }
        guard !details.isEmpty else { return message }
        return "\(message.hasSuffix(".") ? String(message.dropLast()) : message) (\(details.joined(separator: "; ")))"
    }

    /// The same.
    public var errorDescription: String? { description }
}

extension GitHubError.Detail: CustomStringConvertible {
    /// The field, and the words for what is wrong with it, or the code where there are none: `Search.q: missing`.
    public var description: String {
        let name = [resource, field].compactMap { $0 }.joined(separator: ".")
        return [name, message ?? code ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
