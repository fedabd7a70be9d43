import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Code without this package, whose session is a parameter.
private struct Profile {
    struct User: Decodable { let name: String }

    let session: URLSession

    func greeting() async throws -> String {
        let (data, _) = try await session.data(from: example.appendingPathComponent("user"))
        return "Hello, \(try JSONDecoder().decode(User.self, from: data).name)!"
    }
}
