import Foundation
import MiniRx

/// Keeps the file of a download from the transport to the endpoint, which moves it to its destination.
final class Download: Sendable {
    private let latest = Locked<PartialFile?>(nil)

    /// The whole file that has come last.
    var file: PartialFile? { latest.withLock { $0 } }

    func receive(_ file: PartialFile) {
        _ = latest.withLock { latest in
            defer { latest = file }
            return latest
        }
    }

    /// Wraps `single`, which moves the file, so that nothing is left of a file that was not moved when the event has been delivered or
    /// `dispose` returns.
    func removingRest<Value>(after single: Single<Value>) -> Single<Value> {
        .create { observer in
            let subscription = single.subscribe(observer)
            return Disposables.create {
                subscription.dispose()
                self.file?.remove()
            }
        }
    }
}
