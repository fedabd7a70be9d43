import Foundation

// Prints each public declaration in symbol graphs, one a line and sorted: interface FILE...

struct Graph: Decodable {
    struct Symbol: Decodable {
        struct Fragment: Decodable { let spelling: String }
        struct Identifier: Decodable { let precise: String }

        let accessLevel: String
        let pathComponents: [String]
        let declarationFragments: [Fragment]?
        let identifier: Identifier
    }
    struct Relationship: Decodable {
        let kind: String
        let source: String
        let target: String
        let targetFallback: String?
    }

    let symbols: [Symbol]
    let relationships: [Relationship]
}

let graphs = try CommandLine.arguments.dropFirst().map {
    try JSONDecoder().decode(Graph.self, from: Data(contentsOf: URL(fileURLWithPath: $0)))
}
let names = graphs.flatMap(\.symbols).reduce(into: [:]) { $0[$1.identifier.precise] = $1.pathComponents.joined(separator: ".") }
let declarations = graphs.flatMap(\.symbols).filter { ["public", "open"].contains($0.accessLevel) }.map { symbol in
    let text = (symbol.declarationFragments ?? []).map(\.spelling).joined()
    let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return "\(symbol.pathComponents.joined(separator: ".")) | \(line)"
}
// Those that a compiler adds by itself, each version others.
let implied: Set = ["Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"]
let conformances = graphs.flatMap(\.relationships).filter { $0.kind == "conformsTo" }.compactMap { relationship in
    let target = names[relationship.target] ?? relationship.targetFallback ?? relationship.target
    return implied.contains(target) ? nil : names[relationship.source].map { "\($0): \(target)" }
}
for line in Set(declarations + conformances).sorted() { print(line) }
