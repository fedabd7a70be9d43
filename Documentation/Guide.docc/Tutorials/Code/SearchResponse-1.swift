struct SearchResponse: Decodable {
    let items: [Repository]
}

struct Repository: Decodable {
    let id: Int
    let name: String
}
