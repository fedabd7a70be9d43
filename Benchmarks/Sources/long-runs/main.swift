import APIProvider
import APIProviderMocks
import Dispatch
import Foundation
import MiniRx
import MiniRxTesting

// Does the same very often, and prints the memory and the file descriptors at the start, after a tenth and at the end. They should not grow.
//
//     swift run -c release long-runs [SUBSCRIPTIONS] [REQUESTS]

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let subscriptions = arguments.first ?? 10_000_000
let requests = arguments.dropFirst().first ?? 1_000_000

/// The resident memory and the open file descriptors, on Linux.
func usage() -> String {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let memory = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }?.split(separator: " ").dropFirst().first
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    return String(format: "%.1f MB, %d descriptors", Double(memory ?? "0").map { $0 / 1000 } ?? 0, descriptors)
}

func longRun(_ name: String, _ count: Int, _ body: (_ count: Int) -> Void) {
    body(1_000)
    let (begin, start) = (DispatchTime.now(), usage())
    body(count / 10)
    let tenth = usage()
    body(count - count / 10)
    let seconds = Double(DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds) / 1e9
    print("| \(name) | \(count) | \(start) | \(tenth) | \(usage()) | \(String(format: "%.0f s", seconds)) |")
    fflush(nil)
}

print("| what | times | at the start | after a tenth | at the end | in all |")
print("|---|---|---|---|---|---|")

let source = Single<Int>.create { observer in
    observer(.success(1))
    return Disposables.create()
}
let failing = Single<Int>.error(CancellationError())
let time = TestScheduler()
let shared = source.share()
let operators: [(String, Single<Int>)] = [
    ("create", source), ("map", source.map { $0 + 1 }), ("flatMap", source.flatMap { .just($0) }), ("catch", failing.catch { _ in source }),
    ("mapError", failing.mapError { $0 }), ("retry", failing.retry(2)), ("do", source.do(onSuccess: { _ in }, onDispose: {})),
    ("deferred", .deferred { source }), ("zip", Single.zip(source, source) { $0 + $1 }), ("share", shared),
    ("zip of many", Single.zip([source, source, source, source]).map { $0.count }),
    ("timeout", source.timeout(.seconds(1), scheduler: time)), ("delay", source.delay(.seconds(1), scheduler: time)),
    ("observe(on:)", source.observe(on: time)),
    ("subscribe(on:)", source.subscribe(on: time)),
]
for (name, single) in operators {
    longRun(name, subscriptions) { count in
        for _ in 0..<count {
            let subscription = single.subscribe { _ in }
            time.run()
            subscription.dispose()
        }
    }
}
let bag = DisposeBag()
longRun("a bag, of what never ends and is disposed", subscriptions) { count in
    for _ in 0..<count {
        let subscription = Single<Int>.never().subscribe()
        subscription.disposed(by: bag)
        subscription.dispose()
    }
}

/// Sends requests, of which 100 are in flight at each moment.
func send(_ count: Int, by provider: DefaultAPIProvider) {
    let group = DispatchGroup()
    let places = DispatchSemaphore(value: 100)
    for _ in 0..<count {
        places.wait()
        group.enter()
        _ = provider.request(Endpoint<[Int]>(.get, "/items")).subscribe { event in
            guard case .success([1, 2]) = event else { fatalError("\(event)") }
            places.signal()
            group.leave()
        }
    }
    group.wait()
}

for (name, transport) in [
    ("MockTransport", { MockTransport() as any Transport }),
    ("MockURLProtocol", { URLSessionTransport(configuration: MockURLProtocol.configuration) }),
] {
    longRun("a request by \(name)", requests) { count in
        // A scope keeps its requests, so that a test can look at them.
        for _ in 0..<count / 1_000 {
            MockURLProtocol.withScope {
                let provider = DefaultAPIProvider(baseURL: URL(string: "http://localhost"), transport: transport())
                MockURLProtocol.stub(.get, "/items", respond: .json([1, 2]))
                send(1_000, by: provider)
            }
        }
    }
}
