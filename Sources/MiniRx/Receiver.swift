/// An observer that is kept until the event, or the end. A bare closure would gain a thunk each time that it is taken.
@usableFromInline
struct Receiver<Element: Sendable>: Sendable {
    @usableFromInline let receive: Single<Element>.Observer

    @inlinable
    init(_ receive: @escaping Single<Element>.Observer) { self.receive = receive }
}
