private let login = DefaultAPIProvider(baseURL: baseURL)
