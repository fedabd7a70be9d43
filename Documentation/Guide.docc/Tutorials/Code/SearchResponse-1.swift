nonisolated struct SearchResponse: Decodable {
    let items: [Repository]
}

nonisolated struct Repository: Decodable {
    let id: Int
    let name: String
}
