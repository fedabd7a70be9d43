extension PreparedRequest {
    /// The values with a credential's name, in headers and query.
    var credentialValues: [String] {
        var values: [Substring] = headers.filter { $0.name.namesCredential }.flatMap { field -> [Substring] in
            field.value.credentials(inHeader: field.name).flatMap { $0.split { $0.isWhitespace || ";,=\"".contains($0) } }
        }
        // The password of Basic may contain any of these marks.
        for (name, value) in headers where name.namesCredential {
            let parts = value.split(maxSplits: 1, whereSeparator: \.isWhitespace)
            guard parts.count == 2, parts[0].lowercased() == "basic", let pair = String(parts[1]).basicPair else { continue }
            values.append(pair.password[...])
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
            let value = pair.firstIndex(of: "=").map { pair[$0...].dropFirst() } ?? pair
            // Base64 padding is no value.
            return value.allSatisfy { $0 == "=" } ? pair : value
        }
        if name.lowercased().hasSuffix("cookie") { return split(separator: ";").map(value) }
        let parts = split(maxSplits: 1, whereSeparator: \.isWhitespace)
        guard parts.count == 2, name.lowercased().hasSuffix("authorization") else { return [self[...]] }
        let hasParameters = parts[1].contains { ",\"".contains($0) }
        return hasParameters ? parts[1].split(separator: ",").map(value) : [parts[1]]
    }
}
