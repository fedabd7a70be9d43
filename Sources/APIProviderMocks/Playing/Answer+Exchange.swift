@_spi(Transports) import APIProvider
import Foundation
import MiniRx

extension Answer {
    /// Delivers the answer up to the next wait, and continues afterwards.
    func play(to exchange: Exchange, _ scheduler: any Scheduler, _ timer: SerialDisposable) {
        func play(_ answer: Answer, after seconds: TimeInterval) {
            // The action may run before `schedule` returns, and set the next timer. A nested timer keeps this one from replacing the next.
            let nested = SerialDisposable()
            timer.disposable = nested
            nested.disposable = scheduler.schedule(after: DispatchTimeInterval(seconds: seconds)) {
                answer.play(to: exchange, scheduler, timer)
            }
        }
        if let deferredAnswer {
            // The answer may come before the closure returns, and replace the timer.
            let cancellation = SerialDisposable()
            timer.disposable = cancellation
            cancellation.disposable = deferredAnswer { $0.play(to: exchange, scheduler, timer) }
            return
        }
        func complete(with error: (any Error)? = nil) {
            endFeed()
            exchange.complete(with: error)
        }
        guard delay <= 0 else { return play(droppingDelay(), after: delay) }
        if let head, !exchange.receive(head) { return complete() }
        for (index, step) in zip(steps.indices, steps) {
            switch step {
            case .wait(let interval): if interval.seconds > 0 { return play(suffix(after: index), after: interval.seconds) }
            case .data(let chunk): guard exchange.receive(chunk) else { return complete() }
            case .failure(let error): return complete(with: error)
            }
        }
        guard let feed else { return exchange.complete() }
        feed.play(to: exchange)
    }
}

extension StreamFeed {
    /// Delivers the sent parts, and continues with later ones.
    fileprivate func play(to exchange: Exchange) {
        repeat {
            while let part = next() {
                switch part {
                case .data(let data):
                    guard exchange.receive(data) else {
                        requestDidEnd()
                        return exchange.complete()
                    }
                    exchange.onDrained { self.didRead(data.count) }
                case .end(let error): return exchange.complete(with: error)
                }
            }
        } while !onNextPart { self.play(to: exchange) }
    }
}
