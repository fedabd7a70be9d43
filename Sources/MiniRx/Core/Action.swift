/// A closure without parameters that can be stored, swapped and taken out. A bare closure would get one more thunk each time.
@usableFromInline
package struct Action: Sendable {
    @usableFromInline let run: @Sendable () -> Void

    @inlinable
    package init(_ run: @escaping @Sendable () -> Void) { self.run = run }

    @inlinable
    package func callAsFunction() { run() }
}
