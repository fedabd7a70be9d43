private let login = "octocat"
