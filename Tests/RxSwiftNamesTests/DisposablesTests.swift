import RxSwiftNames
import TestSupport
import Testing

@Suite("Disposables with names from RxSwift")
struct RxSwiftDisposablesTests {
    private let log = Log<String>()

    private func disposable(_ entry: String) -> any Disposable { log.disposable(entry) }

    @Test("A CompositeDisposable disposes what it holds in order, once, and what comes later at once")
    func composite() throws {
        let composite = CompositeDisposable(disposable("a"), disposable("b"))
        let key = try #require(composite.insert(disposable("c")))
        composite.insert(disposable("d"))
        #expect(composite.count == 4)
        composite.remove(for: key)
        composite.remove(for: key)
        #expect(log.entries == ["c"])
        #expect(composite.count == 3)
        #expect(!composite.isDisposed)
        composite.dispose()
        composite.dispose()
        #expect(composite.isDisposed)
        #expect(composite.count == 0)
        #expect(log.entries == ["c", "a", "b", "d"])
        #expect(composite.insert(disposable("late")) == nil)
        #expect(log.entries.last == "late")
        CompositeDisposable(disposables: [disposable("x"), disposable("y")]).dispose()
        #expect(log.entries.suffix(2) == ["x", "y"])
    }

    @Test("Disposables.create and insert take lists, in their order")
    func lists() {
        let both = Disposables.create(disposable("a"), disposable("b"))
        both.dispose()
        both.dispose()
        #expect(both.isDisposed)
        do {
            let bag = DisposeBag()
            bag.insert(disposable("c"), disposable("d"))
            bag.insert([disposable("e")])
            #expect(log.entries == ["a", "b"])
        }
        #expect(log.entries == ["a", "b", "c", "d", "e"])
    }

    @Test("A SingleAssignmentDisposable disposes what it is given, also after its own dispose")
    func singleAssignment() {
        let early = SingleAssignmentDisposable()
        early.setDisposable(disposable("early"))
        #expect(!early.isDisposed && log.entries == [])
        early.dispose()
        #expect(early.isDisposed && log.entries == ["early"])
        let late = SingleAssignmentDisposable()
        late.dispose()
        late.setDisposable(disposable("late"))
        #expect(log.entries == ["early", "late"])
    }

    #if compiler(>=6.2) && (os(macOS) || os(Linux))
    @Test("A second disposable for a SingleAssignmentDisposable is a mistake that ends the process")
    func assignedTwice() async {
        await #expect(processExitsWith: .failure) {
            let disposable = SingleAssignmentDisposable()
            disposable.setDisposable(Disposables.create())
            disposable.setDisposable(Disposables.create())
        }
    }
    #endif

    @Test("A BooleanDisposable is disposed from its start or from its dispose on")
    func boolean() {
        let disposable = BooleanDisposable()
        #expect(!disposable.isDisposed)
        disposable.dispose()
        #expect(disposable.isDisposed)
        #expect(BooleanDisposable(isDisposed: true).isDisposed)
    }

    @Test("A SerialDisposable disposes the one before, and what comes after its own dispose")
    func serial() {
        let serial = SerialDisposable()
        serial.disposable = disposable("first")
        serial.disposable = disposable("second")
        #expect(log.entries == ["first"])
        serial.disposable.dispose()
        #expect(log.entries == ["first", "second"])
        #expect(!serial.isDisposed)
        serial.dispose()
        #expect(serial.isDisposed)
        serial.disposable = disposable("late")
        serial.disposable = disposable("later")
        serial.disposable.dispose()
        #expect(log.entries == ["first", "second", "second", "late", "later"])
    }

    @Test("A bag is made and filled by a list or a builder")
    func bags() {
        do {
            let bags = [DisposeBag(disposing: disposable("a"), disposable("b")), DisposeBag { disposable("c") }]
            bags[0].insert {
                disposable("d")
                disposable("e")
            }
            withExtendedLifetime(bags) { #expect(log.entries == []) }
        }
        #expect(log.entries.sorted() == ["a", "b", "c", "d", "e"])
    }

    @Test("timer and delaySubscription wait for their time")
    func time() {
        let scheduler = TestScheduler()
        _ = Single<Int>.timer(.seconds(1), scheduler: scheduler).subscribe(onSuccess: { log.append("timer \($0)") })
        let single = Single.just("value").do(onSubscribe: log.adds("subscribed"))
        _ = single.delaySubscription(.seconds(2), scheduler: scheduler).subscribe(onSuccess: log.append)
        scheduler.advance(by: .milliseconds(999))
        #expect(log.entries == [])
        scheduler.advance(by: .milliseconds(1_000))
        #expect(log.entries == ["timer 0"])
        scheduler.advance(by: .milliseconds(1))
        #expect(log.entries == ["timer 0", "subscribed", "value"])
    }
}
