import Foundation
package import MiniRx

/// Keeps the files of a download from the transport to the endpoint, which moves one to its destination.
package final class Download: Sendable {
    private struct State {
        /// The files of all attempts, also while they are written.
        var files: [PartialFile] = []
        var latest: PartialFile?
        var isOver = false
    }

    private let state = Locked(State())

    package init() {}

    /// The whole file that has come last.
    package var file: PartialFile? { state.withLock(\.latest) }

    /// Keeps a file before it is written, or removes it if the download is over.
    func begin(_ file: PartialFile) {
        let isOver = state.withLock { state in
            if !state.isOver { state.files.append(file) }
            return state.isOver
        }
        if isOver { file.remove() }
    }

    func receive(_ file: PartialFile) {
        // The one before stays in `files`, so nothing is released under the lock.
        state.withLock { $0.latest = $0.isOver ? $0.latest : file }
    }

    /// Wraps `single`, which moves the file. Files that it has not moved are gone when the event comes, or when `dispose` returns.
    package func removingRest<Value>(before single: Single<Value>) -> Single<Value> {
        single.cleaningUp { self.removeRest() }
    }

    private func removeRest() {
        let files = state.withLock { state in
            state.isOver = true
            return state.files
        }
        for file in files { file.remove() }
    }
}

extension Single {
    /// Calls `cleanUp` before the event is delivered, and again when the single is disposed.
    func cleaningUp(_ cleanUp: @escaping @Sendable () -> Void) -> Single {
        .create { observer in
            let subscription = subscribe { event in
                cleanUp()
                observer(event)
            }
            return Disposables.create {
                subscription.dispose()
                cleanUp()
            }
        }
    }
}
