/// A closure without parameters. It stays one as it is stored, swapped and taken: a bare closure gains a thunk at each turn through a generic.
@usableFromInline
package struct Action: Sendable {
    @usableFromInline let run: @Sendable () -> Void

    @inlinable
    package init(_ run: @escaping @Sendable () -> Void) { self.run = run }

    @inlinable
    package func callAsFunction() { run() }
}
