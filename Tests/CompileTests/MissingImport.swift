// flags: -enable-upcoming-feature MemberImportVisibility
// A new project asks for the import of the module in each file that uses a member.
import MiniRxTesting

func observe(_ scheduler: TestScheduler) {
    // error: is not available due to missing import of defining module 'MiniRx'
    _ = scheduler.observe(.just(1))
}
