#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Keeps the stack flat: what a chain wants to run next is run by the outermost call into that chain on this thread, after it has unwound.
///
/// A chain entered from another chain's callback gets a frame of its own, so that it runs at once, as its caller expects.
enum Trampoline {
    private struct Frame {
        let root: ObjectIdentifier
        var next: [() -> Void] = []
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        precondition(pthread_key_create(&key, nil) == 0, "MiniRx needs one thread-specific key, and the process has none left.")
        return key
    }()

    private static var top: UnsafeMutablePointer<Frame>? {
        pthread_getspecific(key)?.assumingMemoryBound(to: Frame.self)
    }

    /// Enters the chain `root` on this thread.
    static func run(for root: ObjectIdentifier, _ body: () -> Void) {
        let outer = top
        guard outer?.pointee.root != root else { return body() }
        var frame = Frame(root: root)
        withUnsafeMutablePointer(to: &frame) { frame in
            pthread_setspecific(key, frame)
            body()
            while !frame.pointee.next.isEmpty {
                frame.pointee.next.removeFirst()()
            }
            pthread_setspecific(key, outer)
        }
    }

    /// Runs `body` when what is running of the chain on this thread has unwound. To be called inside `run(for:)` of that chain.
    static func next(_ body: @escaping () -> Void) {
        guard let top else { preconditionFailure("An event reached an operator outside of its chain.") }
        top.pointee.next.append(body)
    }
}
