public import Foundation

extension APIResponse {
    /// Returns the URL with `relation` in the header `Link` (RFC 8288, section 3):
    /// `<https://…?page=2>; rel="next", <https://…>; rel="last"`.
    ///
    /// A relative reference is resolved against the request's URL. An empty one is that URL.
    ///
    /// - Parameters:
    ///   - relation: The relation (case-insensitive).
    ///   - allowsOtherOrigins: Whether the URL may have another scheme, host or port than the original request. A request there would send
    ///     your endpoint's headers.
    /// - Returns: The URL, or `nil` without such a link.
    /// - Throws: ``APIError/invalidRequest(reason:underlying:)`` for a disallowed URL in another origin, or after a redirect to another
    ///   origin.
    public func link(_ relation: String, allowsOtherOrigins: Bool = false) throws -> URL? {
        var rest = (value(forHTTPHeaderField: "Link") ?? "")[...]
        while let start = rest.utf8.firstIndex(of: UInt8(ascii: "<")), let end = rest.utf8[start...].firstIndex(of: UInt8(ascii: ">")) {
            let target = rest[rest.utf8.index(after: start)..<end]
            rest = rest[rest.utf8.index(after: end)...]
            let parameters = rest.takeParameters()
            // Some servers write rel='next', although only double quotes are quotes.
            let relations =
                parameters.first { $0.name == "rel" }?.value.trimmingCharacters(in: ["'"]).split { $0 == " " || $0 == "\t" } ?? []
            guard relations.contains(where: { $0.lowercased() == relation.lowercased() }),
                !parameters.contains(where: { $0.name == "anchor" }),
                let url = target.isEmpty ? request.url : URL(reference: String(target), from: request.url)
            else { continue }
            guard allowsOtherOrigins || url.origin == request.url.origin && !request.hasLeftOrigin else {
                let start = request.hasLeftOrigin ? "a request that was redirected to another origin" : request.url.origin
                throw APIError.invalid(
                    "the link \"\(relation)\" leads from \(start) to \(url.origin); if that is right, use "
                        + "link(\"\(relation)\", allowsOtherOrigins: true)")
            }
            return url
        }
        return nil
    }
}
