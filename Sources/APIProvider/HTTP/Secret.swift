package import MiniRx

/// A stored value that no `dump`, mirror or description shows.
@propertyWrapper
package struct Secret<Value> {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension Secret: CustomStringConvertible, CustomReflectable {
    package var description: String { "" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret: Sendable where Value: Sendable {}
extension Secret: Equatable where Value: Equatable {}
extension Secret: Hashable where Value: Hashable {}

/// What a lock guards may be a credential, a request or a response.
extension Locked: CustomReflectable {
    package var customMirror: Mirror { Mirror(self, children: []) }
}
