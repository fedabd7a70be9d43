import APIProvider
import Foundation

extension APIResponse {
    /// The URL in the header `Link` with this `relation` (RFC 8288, section 3):
    /// `<https://…?page=2>; rel="next", <https://…>; rel="last"`.
    ///
    /// A relative reference is resolved against the request's URL. Links to another origin are ignored: the next page is where this one is.
    func link(_ relation: String) -> URL? {
        var rest = (value(forHTTPHeaderField: "Link") ?? "")[...]
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            let target = rest[rest.index(after: start)..<end]
            rest = rest[end...].dropFirst()
            let parameters = rest.takeParameters()
            let relations = parameters.first { $0.name == "rel" }?.value.split(separator: " ") ?? []
            guard relations.contains(where: { $0.lowercased() == relation }), !parameters.contains(where: { $0.name == "anchor" }),
                let url = URL(string: String(target), relativeTo: request.url)?.absoluteURL, url.host == request.url?.host,
                url.scheme == request.url?.scheme, url.port == request.url?.port
            else { continue }
            return url
        }
        return nil
    }
}

extension Substring {
    /// Removes and returns the parameters before the next comma. Commas and semicolons in quotes do not separate.
    fileprivate mutating func takeParameters() -> [(name: String, value: String)] {
        var pieces = [""]
        var isQuoted = false
        while let character = popFirst(), isQuoted || character != "," {
            switch character {
            case "\"": isQuoted.toggle()
            case "\\" where isQuoted: pieces[pieces.count - 1].append(popFirst() ?? " ")
            case ";" where !isQuoted: pieces.append("")
            default: pieces[pieces.count - 1].append(character)
            }
        }
        return pieces.map { piece in
            let parts = piece.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return (parts.first?.lowercased() ?? "", parts.count > 1 ? parts[1] : "")
        }
    }
}
