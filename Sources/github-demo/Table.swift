import GitHubAPI

/// Rows in aligned columns, also with wide characters.
struct Table {
    private let header: [String]?
    private let rows: [[String]]

    init(header: [String]? = nil, _ rows: [[String]]) {
        self.header = header
        self.rows = rows.map { $0.map(\.printable) }
    }

    /// The lines, cut to the width of the terminal if there is one, with a bold header.
    func text(for output: Output) -> String {
        let all = (header.map { [$0] } ?? []) + rows
        let widths = (all.first ?? []).indices.map { column in all.map { $0[column].columns }.max() ?? 0 }
        let lines = all.map { row in
            let line = zip(row, widths).map { $0.padding(to: $1) }.joined(separator: "  ")
            let trimmed = String(line.reversed().drop { $0 == " " }.reversed())
            return output.width.map { trimmed.cut(to: $0) } ?? trimmed
        }
        return (header == nil ? lines : lines.prefix(1).map(output.bold) + lines.dropFirst()).joined(separator: "\n")
    }
}

extension Table {
    init(_ repositories: [Repository]) {
        self.init(
            header: ["REPOSITORY", "OWNER", "STARS", "LANGUAGE", "DESCRIPTION"],
            repositories.map { [$0.name, $0.owner.login, "\($0.stargazersCount)", $0.language ?? "", $0.description ?? ""] })
    }

    init(_ user: User) {
        self.init([
            ["login", user.login], ["name", user.name ?? ""], ["bio", user.bio ?? ""], ["location", user.location ?? ""],
            ["repositories", "\(user.publicRepositories)"], ["followers", "\(user.followers)"], ["page", "\(user.htmlURL)"],
        ])
    }
}
