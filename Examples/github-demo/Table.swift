import GitHubAPI

/// Rows in aligned columns. The first may be a header.
struct Table {
    private let rows: [[String]]
    private let hasHeader: Bool

    init(_ rows: [[String]], hasHeader: Bool = false) { (self.rows, self.hasHeader) = (rows, hasHeader) }

    /// The lines, cut to the width of the terminal if there is one, with a bold header.
    func text(width: Int? = Output.standard.width, bold: (String) -> String = Output.standard.bold) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            var line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            guard let width, line.count > width else { return line }
            return line.prefix(width - 1) + "…"
        }
        return (hasHeader ? lines.prefix(1).map(bold) + lines.dropFirst() : lines).joined(separator: "\n")
    }
}

extension Table {
    init(_ repositories: [Repository]) {
        let rows = repositories.map { [$0.name, $0.owner.login, "\($0.stargazersCount)", $0.language ?? "", $0.description ?? ""] }
        self.init([["REPOSITORY", "OWNER", "STARS", "LANGUAGE", "DESCRIPTION"]] + rows.map { $0.map(\.printable) }, hasHeader: true)
    }

    init(_ user: User) {
        let rows = [
            ["login", user.login], ["name", user.name ?? ""], ["bio", user.bio ?? ""], ["location", user.location ?? ""],
            ["repositories", "\(user.publicRepositories)"], ["followers", "\(user.followers)"], ["page", "\(user.htmlURL)"],
        ]
        self.init(rows.map { $0.map(\.printable) })
    }
}
