import MiniRx

/// A diagram for each operator that has to do with events or time.
let operators = [
    MarbleDiagram("just") { _ in
        Single
            .just(1)
    },
    MarbleDiagram("error") { _ in
        let error = Stage.Failure()
        return Single<Int>
            .error(error)
    },
    MarbleDiagram("never") { _ in
        Single<Int>
            .never()
    },
    MarbleDiagram("create") { stage in
        let time = stage.time
        return Single<Int>
            .create { observer in
                time.schedule(after: .seconds(2)) { observer(.success(1)) }
            }
    },
    MarbleDiagram("dispose", disposingAt: 2) { stage in
        stage.value(1, after: 3)
            .map { $0 * 10 }
    },
    MarbleDiagram("deferred", subscribingAt: [0, 1]) { stage in
        let next: @Sendable () -> Single<Int> = { stage.value(stage.sources.count + 1, after: 2) }
        return
            Single
            .deferred { next() }
    },
    MarbleDiagram("map") { stage in
        stage.value(2, after: 2)
            .map { $0 * 10 }
    },
    MarbleDiagram("flatMap") { stage in
        let second = stage.value("b", after: 2)
        return stage.value("a", after: 1)
            .flatMap { first in second.map { first + $0 } }
    },
    MarbleDiagram("catch") { stage in
        let second = stage.value(2, after: 2)
        return stage.error(after: 1)
            .catch { _ in second }
    },
    MarbleDiagram("catchAndReturn") { stage in
        stage.error(after: 2)
            .catchAndReturn(0)
    },
    MarbleDiagram("mapError") { stage in
        (stage.error(after: 2) as Single<Int>)
            .mapError { _ in RxError.timeout }
    },
    MarbleDiagram("retry") { stage in
        stage.events([.failure(Stage.Failure()), .failure(Stage.Failure()), .success(1)], after: 1)
            .retry(3)
    },
    MarbleDiagram("retryWhen") { stage in
        let time = stage.time
        return stage.events([.failure(Stage.Failure()), .failure(Stage.Failure()), .success(1)], after: 1)
            .retry(scheduler: time) { failures, _ in .seconds(failures) }
    },
    MarbleDiagram("do") { stage in
        let log: @Sendable (String) -> Void = { stage.log($0) }
        return stage.value(1, after: 2)
            .do(onSuccess: { log("value \($0)") }, onSubscribe: { log("subscribe") })
    },
    MarbleDiagram("observeOn") { stage in
        let queue = stage.queue("queue")
        return stage.value(1, after: 2)
            .observe(on: queue)
    },
    MarbleDiagram("subscribeOn") { stage in
        let queue = stage.queue("queue")
        return stage.value(1, after: 2)
            .subscribe(on: queue)
    },
    MarbleDiagram("delay") { stage in
        let time = stage.time
        return stage.value(1, after: 1)
            .delay(.seconds(2), scheduler: time)
    },
    MarbleDiagram("timeout") { stage in
        let time = stage.time
        return stage.value(1, after: 4)
            .timeout(.seconds(2), scheduler: time)
    },
    MarbleDiagram("zip") { stage in
        let (a, b) = (stage.value("a", after: 1, name: "a"), stage.value("b", after: 3, name: "b"))
        return
            Single
            .zip(a, b) { $0 + $1 }
    },
    MarbleDiagram("zipFailure") { stage in
        let a: Single<String> = stage.error(after: 1, name: "a")
        let b = stage.value("b", after: 3, name: "b")
        return
            Single
            .zip(a, b) { $0 + $1 }
    },
    MarbleDiagram("share", subscribingAt: [0, 1, 4]) { stage in
        stage.value(1, after: 2)
            .share()
    },
]
