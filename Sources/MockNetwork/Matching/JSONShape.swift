/// The kinds of values at each place in JSON. All elements of an array share one place, such as `items[].name`.
struct JSONShape {
    private struct Object {
        var count = 0
        /// How many of the objects have each member.
        var members: [String: Int] = [:]
    }

    private var kinds: [String: Set<String>] = [:]
    private var objects: [String: Object] = [:]

    init(_ tree: JSONTree) { add(tree, at: "") }

    private mutating func add(_ tree: JSONTree, at place: String) {
        kinds[place, default: []].insert(tree.kind)
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

    /// What a reader of this finds changed in `other`, sorted by place: members that are gone and kinds that are new.
    ///
    /// - Parameter isWhole: Whether members that are new are changes.
    func changes(in other: JSONShape, isWhole: Bool) -> [String] {
        var changes: [String] = []
        for (place, object) in objects {
            guard let now = other.objects[place] else { continue }
            let prefix = place.isEmpty ? "" : "\(place)."
            changes += object.members.filter { $0.value == object.count && now.members[$0.key, default: 0] < now.count }
                .map { "\(prefix)\($0.key) is gone" }
            if isWhole { changes += now.members.keys.filter { object.members[$0] == nil }.map { "\(prefix)\($0) is new" } }
        }
        for (place, kinds) in kinds {
            let new = other.kinds[place, default: []].subtracting(kinds)
            // A value that was always null may have any kind.
            guard !new.isEmpty, kinds != ["null"] else { continue }
            changes.append("\(place.isEmpty ? "the body" : place) is \(new.words), and was \(kinds.words)")
        }
        return changes.sorted()
    }
}

extension Set<String> {
    fileprivate var words: String { sorted().joined(separator: " or ") }
}

extension JSONTree {
    fileprivate var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
