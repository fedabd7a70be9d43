import Dispatch
import Foundation

/// Whether `condition` becomes true within some seconds. Use it only if no event tells, as for the release of an object.
@discardableResult
package func eventually(
    within seconds: Double = 60, isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool
) async rethrows -> Bool {
    let deadline = DispatchTime.now() + seconds
    while try !condition(), DispatchTime.now() < deadline { await Task.yield() }
    return try condition()
}

/// Returns at a random moment within `microseconds`. Other threads run meanwhile. A number of yields would take as long as the other
/// processes of a busy machine like.
package func spin(upTo microseconds: Int) {
    let end = DispatchTime.now() + .microseconds(Int.random(in: 0...microseconds))
    while DispatchTime.now() < end { sched_yield() }
}
