import Dispatch

/// Whether `condition` becomes true within some seconds. It is for what no event tells of, such as the end of an object.
@discardableResult
package func eventually(
    within seconds: Double = 60, isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool
) async rethrows -> Bool {
    let deadline = DispatchTime.now() + seconds
    while try !condition(), DispatchTime.now() < deadline { await Task.yield() }
    return try condition()
}
