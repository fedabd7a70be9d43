import APIProviderMocks

/// The kinds of values at each place in JSON. All elements of an array share one place, such as `items[].name`.
struct JSONShape {
    private struct Object {
        var count = 0
        /// How many of the objects have each member.
        var members: [String: Int] = [:]
    }

    fileprivate static let (integer, fraction) = ("an integer", "a number with a fraction")

    private var kinds: [String: Set<String>] = [:]
    private var objects: [String: Object] = [:]

    init(_ tree: JSONTree) { add(tree, at: "") }

    private mutating func add(_ tree: JSONTree, at place: String) {
        kinds[place, default: []].insert(tree.shapeKind)
        switch tree {
        case .object(let members):
            objects[place, default: Object()].count += 1
            for (name, value) in members {
                objects[place, default: Object()].members["\(name)", default: 0] += 1
                add(value, at: place.isEmpty ? "\(name)" : "\(place).\(name)")
            }
        case .array(let elements): elements.forEach { add($0, at: "\(place)[]") }
        case .null, .bool, .number, .string: break
        }
    }

    /// The incompatible changes from this shape to `other`, sorted by place: removed members and changed kinds.
    func changes(in other: JSONShape) -> [String] {
        var changes: [String] = []
        for (place, object) in objects {
            guard let now = other.objects[place] else { continue }
            let prefix = place.isEmpty ? "" : "\(place)."
            changes += object.members.filter { $0.value == object.count && now.members[$0.key, default: 0] < now.count }
                .map { "\(prefix)\($0.key) is gone" }
        }
        for (place, kinds) in kinds {
            var new = other.kinds[place, default: []].subtracting(kinds)
            // What reads 9.99 reads 10, too.
            if kinds.contains(Self.fraction) { new.remove(Self.integer) }
            // A value that was always null may have any kind.
            guard !new.isEmpty, kinds != ["null"] else { continue }
            changes.append("\(place.isEmpty ? "the body" : place) is \(new.words), but was \(kinds.words)")
        }
        return changes.sorted()
    }
}

extension Set<String> {
    fileprivate var words: String { sorted().joined(separator: " or ") }
}

extension JSONTree {
    /// An integer and another number are different kinds: a reader may decode an `Int`.
    fileprivate var shapeKind: String {
        guard case .number(let number) = self else { return kind }
        let isInteger = Int64(number.text) != nil || Double(number.text).map { $0.rounded() == $0 } == true
        return isInteger ? JSONShape.integer : JSONShape.fraction
    }
}
