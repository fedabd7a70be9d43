// Stand-ins for what only Apple's Foundation has, with the signatures that Apple documents.

package typealias CFTypeRef = AnyObject

package final class CFString: Sendable {}

package final class CFRunLoop {}

package struct CFRunLoopMode: Sendable {
    package static let commonModes = CFRunLoopMode()
    package let rawValue: CFString! = CFString()
}

package func CFRunLoopGetCurrent() -> CFRunLoop! { nil }
package func CFRunLoopPerformBlock(_ runLoop: CFRunLoop!, _ mode: CFTypeRef!, _ block: (() -> Void)!) {}
package func CFRunLoopWakeUp(_ runLoop: CFRunLoop!) {}
