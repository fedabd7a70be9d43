/// A stored property in an object of its own. Copying the value around it copies one reference.
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
    /// Shows nothing: it may hold a secret.
    var customMirror: Mirror { Mirror(self, children: []) }
}
