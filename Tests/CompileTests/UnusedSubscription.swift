// expect: warning: result of call to 'subscribe' is unused
import MiniRx

func start(_ single: Single<Int>) {
    single.subscribe { print($0) }
}
