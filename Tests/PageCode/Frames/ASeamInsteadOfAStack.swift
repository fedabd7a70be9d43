import Testing

@Suite("Recipe 3: A seam instead of a stack")
struct ASeamInsteadOfAStack {
    nonisolated struct Animal: Decodable {
        let id: Int
        let name: String
        let latinName: String
    }

    enum AnimalError: Error { case unknownError }

    private let json = #"{"id": 48, "name": "Siberian Tiger", "latinName": "Panthera tigris altaica"}"#

    /// `nil` if nothing has come by the time that `animal` returns.
    private func outcome(of transport: ClosureTransport) -> Result<Animal, AnimalError>? {
        let results = Log<Result<Animal, AnimalError>>()
        AnimalService(transport: transport).animal { results.append($0) }
        return results.entries.first
    }

    // The page
}
