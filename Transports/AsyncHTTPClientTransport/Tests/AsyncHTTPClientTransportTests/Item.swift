struct Item: Codable, Sendable, Equatable {
    let id: Int
    let name: String
}
