import TestSupport

/// A random chain, as a value: the library and the model run the same one.
indirect enum Tree: Sendable {
    case just(Int), fail, never
    /// A source that the script controls.
    case source(Int)
    /// A member of the forest that several chains share.
    case shared(Int)
    /// Whether the closure throws, or performs the reaction.
    case map(Tree, throws: Bool, reacts: Bool)
    /// Whether the closure behind the event performs the reaction.
    case tapped(Tree, reacts: Bool)
    /// A `create` that subscribes to another chain.
    case bridged(Tree)
    /// The closure of each throws if the second tree is `fail`.
    case flatMap(Tree, Tree), recover(Tree, Tree)
    case zip(Tree, Tree), retried(Tree, Int)
    case timeout(Tree, Int), delayed(Tree, Int), subscribedOn(Tree), observedOn(Tree)

    static let sources = 3

    /// `shared` is the number of shared trees that this one may use.
    static func random(depth: Int, shared: Int, using random: inout SeededGenerator) -> Tree {
        func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
        guard depth > 0 else {
            switch number(below: 12) {
            case 0: return .never
            case 1, 2: return .fail
            case 3, 4: return .just(number(below: 10))
            case 5 where shared > 0, 6 where shared > 0, 7 where shared > 0: return .shared(number(below: shared))
            default: return .source(number(below: sources))
            }
        }
        func child() -> Tree { .random(depth: depth - 1 - number(below: depth), shared: shared, using: &random) }
        switch number(below: 14) {
        case 0, 1: return .map(child(), throws: number(below: 5) == 0, reacts: number(below: 2) == 0)
        case 2, 3: return .flatMap(child(), child())
        case 4: return .recover(child(), child())
        case 5, 6: return .zip(child(), child())
        case 7: return .tapped(child(), reacts: number(below: 2) == 0)
        case 8: return .bridged(child())
        case 9: return .retried(child(), 1 + number(below: 3))
        case 10: return .timeout(child(), number(below: 4))
        case 11: return .delayed(child(), number(below: 3))
        case 12: return .observedOn(child())
        default: return .subscribedOn(child())
        }
    }
}

/// A tree for each chain, and the trees that they share: each may use those before it.
struct Forest: Sendable {
    let shared: [Tree]
    let chains: [Tree]

    init(using random: inout SeededGenerator) {
        shared = (0..<2).map { .random(depth: Int.random(in: 0...3, using: &random), shared: $0, using: &random) }
        chains = (0..<2).map { _ in .random(depth: Int.random(in: 1...5, using: &random), shared: 2, using: &random) }
    }
}

/// A step of a script that drives the chains of a forest.
enum Step: Sendable {
    case subscribe(Int), dispose(Int)
    /// Every subscription of the source that is there tries to emit, also those that have ended.
    case emit(Int, isSuccess: Bool)
    case advance(Int)

    /// Up to `count` steps, and at least one.
    static func script(upTo count: Int, using random: inout SeededGenerator) -> [Step] {
        (0..<Int.random(in: 1...count, using: &random)).map { _ in .random(using: &random) }
    }

    static func random(using random: inout SeededGenerator) -> Step {
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1: .dispose(Int.random(in: 0...1, using: &random))
        case 2: .subscribe(1)
        case 3, 4, 5, 6: .advance(Int.random(in: 0...2, using: &random))
        default: .emit(Int.random(in: 0..<Tree.sources, using: &random), isSuccess: Int.random(in: 0..<3, using: &random) > 0)
        }
    }
}
