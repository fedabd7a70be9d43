import Dispatch

/// Whether `condition` becomes true within some seconds. Use it only if no event tells, as for the release of an object.
@discardableResult
package func eventually(
    within seconds: Double = 60, isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool
) async rethrows -> Bool {
    let deadline = DispatchTime.now() + seconds
    while try !condition(), DispatchTime.now() < deadline { await Task.yield() }
    return try condition()
}
