public import MiniRx

/// A stored property hidden from `dump`, mirrors and descriptions.
@propertyWrapper
package struct HiddenFromReflection<Value> {
    package var wrappedValue: Value

    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension HiddenFromReflection: CustomStringConvertible, CustomReflectable {
    package var description: String { "" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension HiddenFromReflection: Sendable where Value: Sendable {}
extension HiddenFromReflection: Equatable where Value: Equatable {}
extension HiddenFromReflection: Hashable where Value: Hashable {}

/// A mirror without the value: it may be a credential, a request or a response.
extension Locked: CustomReflectable {
    @usableFromInline package var customMirror: Mirror { Mirror(self, children: []) }
}
