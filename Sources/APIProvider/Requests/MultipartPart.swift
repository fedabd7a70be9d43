public import Foundation

/// One part of a `multipart/form-data` body (RFC 7578): a form field or a file.
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
/// Names and file names are sent in UTF-8, and escaped by the WHATWG HTML standard: a double quote is `%22`, a carriage return `%0D`, a
/// line feed `%0A`, and all else stays unchanged.
public struct MultipartPart: Sendable {
    private let name: String
    private let fileName: String?
    private let contentType: String?
    private let content: @Sendable (JSONEncoder) throws -> BodyPiece

    /// Creates the field `name` with `value`, sent in UTF-8.
    public init(name: String, value: String) {
        (self.name, fileName, contentType) = (name, nil, nil)
        content = { _ in .data(Data(value.utf8)) }
    }

    /// Creates a part with these bytes: a field, or a file if `fileName` is set.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - data: The bytes.
    ///   - contentType: The media type. `nil` sends none, and a server takes a field for `text/plain`.
    ///   - fileName: The file name for the server. `nil` creates a field.
    public init(name: String, data: Data, contentType: String? = nil, fileName: String? = nil) {
        (self.name, self.fileName, self.contentType) = (name, fileName, contentType)
        content = { _ in .data(data) }
    }

    /// Creates the field `name` with `value` as JSON. The part's `Content-Type` is `application/json`.
    ///
    /// The provider's encoder encodes the value. A failure makes the request invalid.
    public init(name: String, json value: some Encodable & Sendable) { self.init(name: name, .json(value)) }

    /// Creates the field `name` with `value`: JSON with members of several types, as in ``HTTPBody/json(_:)``.
    public init(name: String, json value: JSONValue) { self.init(name: name, .json(value)) }

    private init(name: String, _ body: HTTPBody) {
        (self.name, fileName, contentType) = (name, nil, "application/json")
        content = { .data(try body.encode($0).body.data()) }
    }

    /// Creates a file part, read during the transfer. Do not change the file before the request ends.
    ///
    /// - Parameters:
    ///   - name: The field's name.
    ///   - file: The file to read.
    ///   - fileName: The file name for the server. `nil` means the file's own name, without the folder.
    ///   - contentType: The file's media type.
    public init(name: String, file: URL, fileName: String? = nil, contentType: String) {
        (self.name, self.fileName, self.contentType) = (name, fileName ?? file.lastPathComponent, contentType)
        content = { _ in try BodyPiece(file) }
    }

    // MARK: - Encoding

    /// The part's header with the empty line, and the content.
    func encoded(by encoder: JSONEncoder) throws -> (header: Data, content: BodyPiece) {
        var header = "Content-Disposition: form-data; name=\"\(name.escapedAsMultipartName)\""
        if let fileName { header += "; filename=\"\(fileName.escapedAsMultipartName)\"" }
        if let contentType {
            guard contentType.isFieldValue else {
                throw APIError.invalid(
                    "the content type of the part \"\(name.escapedAsMultipartName)\" of its body has a control character")
            }
            header += "\r\nContent-Type: \(contentType)"
        }
        return (Data("\(header)\r\n\r\n".utf8), try content(encoder))
    }
}

extension RequestBody {
    /// Encodes `parts` (RFC 7578). JSON parts use `encoder`.
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

    /// A boundary (RFC 2046, section 5.1.1). With 128 random bits, the content cannot contain the boundary, and need not be searched.
    static func randomBoundary() -> String {
        let halves = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
        return "APIProvider-" + halves.map { String(repeating: "0", count: 16 - $0.utf8.count) + $0 }.joined()
    }
}
