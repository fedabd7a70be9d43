package import Dispatch

/// A mark on a queue, which tells whether the caller runs there.
package struct QueueMark: @unchecked Sendable {  // A key has no state. Dispatch itself declares it Sendable from Swift 6.2.
    private let key = DispatchSpecificKey<Void>()

    package init(on queue: DispatchQueue) { queue.setSpecific(key: key, value: ()) }

    package var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}
