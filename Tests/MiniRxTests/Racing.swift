import Dispatch

private let queue = DispatchQueue(label: "race", attributes: .concurrent)

/// Runs all of `actions` at the same time, and returns when they have returned.
func race(_ actions: (@Sendable () -> Void)...) {
    let group = DispatchGroup()
    for action in actions { queue.async(group: group, execute: action) }
    group.wait()
}
