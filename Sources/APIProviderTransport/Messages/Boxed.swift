/// A stored property in a separate object. Copying the enclosing value copies one reference.
@propertyWrapper
struct Boxed<Value: Sendable>: Sendable {
    private final class Storage: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private var storage: Storage

    init(wrappedValue: Value) { storage = Storage(wrappedValue) }

    var wrappedValue: Value {
        get { storage.value }
        set { storage = Storage(newValue) }
    }
}

extension Boxed: CustomReflectable {
    /// Shows nothing: the value may hold a secret.
    var customMirror: Mirror { Mirror(self, children: []) }
}
