nonisolated private struct User: Codable { let login: String }

extension APIRequest where Self == Endpoint<User> {
    fileprivate static func user(_ login: String) -> Self { Endpoint(.get, "/users/\(login)") }
}
