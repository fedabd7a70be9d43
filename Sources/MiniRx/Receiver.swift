/// An observer that is stored until the event or the end. A bare closure would get one more thunk each time it is taken out.
@usableFromInline
struct Receiver<Element: Sendable>: Sendable {
    @usableFromInline let receive: Single<Element>.Observer

    @inlinable
    init(_ receive: @escaping Single<Element>.Observer) { self.receive = receive }
}
