import NIOHTTP1

extension HTTPHeaders {
    /// The fields, with the values of one name joined (RFC 9110, section 5.3).
    var joined: [String: String] {
        var names: [String: String] = [:]
        var fields: [String: String] = [:]
        for (name, value) in self {
            let first = names[name.lowercased()] ?? name
            names[name.lowercased()] = first
            fields[first] = fields[first].map { "\($0), \(value)" } ?? value
        }
        return fields
    }
}
