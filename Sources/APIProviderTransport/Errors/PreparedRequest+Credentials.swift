import Foundation

extension PreparedRequest {
    /// The values with a credential's name, in headers and query.
    var credentialValues: [String] {
        let fields = headers.filter { $0.name.namesCredential } + (addedCookie.map { [(name: "Cookie", value: $0)] } ?? [])
        var values: [Substring] = fields.flatMap { name, value in
            value.credentials(inHeader: name).flatMap { credential in
                // A server may repeat a part or all of it.
                let marks = " \t;,=\"".unicodeScalars
                let parts = credential.unicodeScalars.split { marks.contains($0) }.map { Substring($0) }
                return parts + [credential.trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))[...]]
            }
        }
        // All of the text after a scheme, and the password of Basic, may contain any of these marks.
        for (name, value) in headers where name.namesCredential {
            let parts = value.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            guard parts.count == 2 else { continue }
            values.append(parts[1])
            if parts[0].lowercased() == "basic", let pair = String(parts[1]).basicPair { values.append(pair.password[...]) }
        }
        _ = URIReference.items(URIReference(url.absoluteString).query ?? "") { name, value in
            if let value, String(name).namesCredential { values += [value, Substring(String(value).formDecoded)] }
            return ""
        }
        return values.map(String.init)
    }
}

extension String {
    /// The values in this header that may be credentials: cookie values, the parameters of a scheme such as Digest, or the text after a
    /// scheme such as Bearer.
    fileprivate func credentials(inHeader name: String) -> [Substring] {
        func value(of pair: Substring) -> Substring {
            let value = pair.utf8.firstIndex(of: UInt8(ascii: "=")).map { pair.utf8[$0...].dropFirst() } ?? pair.utf8
            // Base64 padding is no value.
            return value.allSatisfy { $0 == UInt8(ascii: "=") } ? pair : Substring(value)
        }
        if name.lowercased().hasSuffix("cookie") { return parts(between: UInt8(ascii: ";")).map(value) }
        let parts = utf8.split(maxSplits: 1) { $0 == 32 || $0 == 9 }.map { Substring($0) }
        guard parts.count == 2, name.lowercased().hasSuffix("authorization") else { return [self[...]] }
        let hasParameters = parts[1].utf8.contains { ",\"".utf8.contains($0) }
        return hasParameters ? parts[1].parts(between: UInt8(ascii: ",")).map(value) : [parts[1]]
    }
}
