@MainActor private var request = PreparedRequest(.get, api)
