nonisolated struct SearchResponse: Decodable {
    let totalCount: Int
    let items: [Repository]

    enum CodingKeys: String, CodingKey {
        case totalCount = "total_count"
        case items
    }
}

nonisolated struct Repository: Decodable, Identifiable {
    let id: Int
    let name: String
    let description: String?
    let owner: Owner

    struct Owner: Decodable {
        let login: String
    }
}
