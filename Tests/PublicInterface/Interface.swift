import Foundation

// Prints each public declaration in symbol graphs, one a line and sorted: interface FILE...
//
// Behind a member of a constrained extension stand the constraints. A member of a protocol and its default implementation look the same, so
// they are two equal lines.

struct Graph: Decodable {
    struct Symbol: Decodable {
        struct Fragment: Decodable { let spelling: String }
        struct Identifier: Decodable { let precise: String }
        struct Generics: Decodable { let constraints: [Constraint]? }
        struct Constraint: Decodable, Hashable {
            let kind: String
            let lhs: String
            let rhs: String

            var text: String { "\(lhs)\(kind == "sameType" ? " ==" : ":") \(rhs)" }
        }

        let accessLevel: String
        let pathComponents: [String]
        let declarationFragments: [Fragment]?
        let identifier: Identifier
        let swiftExtension: Generics?
        let swiftGenerics: Generics?

        var path: String { pathComponents.joined(separator: ".") }
        var typePath: String { pathComponents.dropLast().joined(separator: ".") }
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
let symbols = graphs.flatMap(\.symbols).reduce(into: [:]) { $0[$1.identifier.precise] = $1 }.values
let names = symbols.reduce(into: [:]) { $0[$1.identifier.precise] = $1.path }
let generics = symbols.reduce(into: [:]) { $0[$1.path] = $1.swiftGenerics?.constraints }
let declarations = symbols.filter { ["public", "open"].contains($0.accessLevel) }.map { symbol in
    let text = (symbol.declarationFragments ?? []).map(\.spelling).joined()
    let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    // The constraints of an extension repeat those of the type.
    let inherited = generics[symbol.typePath] ?? []
    let constraints = (symbol.swiftExtension?.constraints ?? []).filter { !inherited.contains($0) }.map(\.text)
    return "\(symbol.path) | \(line)" + (constraints.isEmpty ? "" : " | where \(constraints.joined(separator: ", "))")
}
// Those that a compiler adds by itself, each version others.
let implied: Set = ["Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"]
let conformances = graphs.flatMap(\.relationships).filter { $0.kind == "conformsTo" }.compactMap { relationship in
    let target = names[relationship.target] ?? relationship.targetFallback ?? relationship.target
    return implied.contains(target) ? nil : names[relationship.source].map { "\($0): \(target)" }
}
for line in (declarations + Set(conformances)).sorted() { print(line) }
