nonisolated private let login = DefaultAPIProvider(baseURL: baseURL)
