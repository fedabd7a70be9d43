public import Foundation

/// One part of a `multipart/form-data` body (RFC 7578): a field of a form, or a file.
///
/// ```swift
/// var body: HTTPBody? {
///     .multipart([
///         MultipartPart(name: "title", value: "Holidays"),
///         MultipartPart(name: "photo", file: photo, contentType: "image/jpeg"),
///         MultipartPart(name: "options", json: ["isPublic": true, "width": 640]),
///     ])
/// }
/// ```
///
/// Names and file names are sent in UTF-8, and escaped as the WHATWG HTML standard says: a double quote is `%22`, a carriage return `%0D`,
/// a line feed `%0A`, and all else stays as it is.
public struct MultipartPart: Sendable {
    private let name: String
    private let fileName: String?
    private let contentType: String?
    private let content: @Sendable (JSONEncoder) throws -> BodyPiece

    /// Creates the field `name` with `value`, which is sent in UTF-8.
    public init(name: String, value: String) {
        (self.name, fileName, contentType) = (name, nil, nil)
        content = { _ in .data(Data(value.utf8)) }
    }

    /// Creates a part with these bytes: a field, or a file if it has a file name.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - data: The bytes.
    ///   - contentType: Their media type. `nil` sends none, and a server takes a field for `text/plain`.
    ///   - fileName: The name of the file that the server gets. `nil` makes it a field.
    public init(name: String, data: Data, contentType: String? = nil, fileName: String? = nil) {
        (self.name, self.fileName, self.contentType) = (name, fileName, contentType)
        content = { _ in .data(data) }
    }

    /// Creates the field `name` with `value` as JSON. The `Content-Type` of the part is `application/json`.
    ///
    /// The provider's encoder encodes the value. If that fails, the request is invalid.
    public init(name: String, json value: some Encodable & Sendable) { self.init(name: name, .json(value)) }

    /// Creates the field `name` with `value`, JSON whose members have several types, as ``HTTPBody/json(_:)`` does.
    public init(name: String, json value: JSONValue) { self.init(name: name, .json(value)) }

    private init(name: String, _ body: HTTPBody) {
        (self.name, fileName, contentType) = (name, nil, "application/json")
        content = { .data(try body.encode($0).body.data()) }
    }

    /// Creates a file whose content is read while the request is sent. Do not change it before the request has ended.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - file: The file to read.
    ///   - fileName: The name that the server gets. `nil` means the file's own name, without its folder.
    ///   - contentType: The media type of the file.
    public init(name: String, file: URL, fileName: String? = nil, contentType: String) {
        (self.name, self.fileName, self.contentType) = (name, fileName ?? file.lastPathComponent, contentType)
        content = { _ in try BodyPiece(file) }
    }

    // MARK: - Encoding

    /// The header of the part with the empty line after it, and the content.
    func encoded(by encoder: JSONEncoder) throws -> (header: Data, content: BodyPiece) {
        var header = "Content-Disposition: form-data; name=\"\(name.escapedForQuotedString)\""
        if let fileName { header += "; filename=\"\(fileName.escapedForQuotedString)\"" }
        if let contentType {
            guard contentType.isFieldValue else {
                throw APIError.invalid(
                    "the content type of the part \"\(name.escapedForQuotedString)\" of its body has a control character")
            }
            header += "\r\nContent-Type: \(contentType)"
        }
        return (Data("\(header)\r\n\r\n".utf8), try content(encoder))
    }
}

extension RequestBody {
    /// Encodes `parts` (RFC 7578), those of JSON with `encoder`.
    init(_ parts: [MultipartPart], boundary: String, encoder: JSONEncoder) throws {
        var text = "--\(boundary)"
        var pieces: [BodyPiece] = []
        for part in parts {
            let (header, content) = try part.encoded(by: encoder)
            pieces += [.data(Data("\(text)\r\n".utf8) + header), content]
            text = "\r\n--\(boundary)"
        }
        let end = BodyPiece.data(Data("\(text)--\r\n".utf8))
        self.init(pieces + [end], boundary: boundary)
    }

    /// A boundary (RFC 2046, section 5.1.1). It has 128 random bits, so the content cannot contain it and need not be searched.
    static func randomBoundary() -> String {
        let halves = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
        return "APIProvider-" + halves.map { String(repeating: "0", count: 16 - $0.utf8.count) + $0 }.joined()
    }
}

extension String {
    fileprivate var escapedForQuotedString: String { percentEncoded(except: .multipartName) }
}
