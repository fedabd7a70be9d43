/// An observer of any element, stored until the event or the end.
@usableFromInline
struct Receiver: Sendable {
    /// A bare closure would get one more thunk each time it is stored and taken out.
    @usableFromInline
    struct Typed<Element: Sendable>: Sendable {
        @usableFromInline let observer: Single<Element>.Observer

        @inlinable
        init(_ observer: @escaping Single<Element>.Observer) { self.observer = observer }
    }

    @usableFromInline let erased: Typed<Void>

    // A closure takes the same space for each element. It is called only as what it was: who opens a source delivers its event.
    @inlinable
    init<Element: Sendable>(_ observer: @escaping Single<Element>.Observer) {
        erased = unsafeBitCast(Typed(observer), to: Typed<Void>.self)
    }

    @inlinable
    func receive<Element: Sendable>(_ chain: Subscription, _ event: SingleEvent<Element>) {
        unsafeBitCast(erased, to: Typed<Element>.self).observer(chain, event)
    }
}
