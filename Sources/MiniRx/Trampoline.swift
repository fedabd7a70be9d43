#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Keeps the stack flat and the order right: what a chain wants to subscribe to next is started by the outermost call into that chain on
/// this thread, after it has unwound. So the source before is released by then, and the next runs on the thread that the event came on.
///
/// A chain that is entered from another's callback gets a frame of its own, so that it runs at once, as its caller expects.
@usableFromInline
enum Trampoline {
    private struct Frame {
        /// The chain, or the branch of one, that is entered.
        let id: ObjectIdentifier
        let outer: UnsafeMutablePointer<Frame>?
        /// Almost always one at most: an array is an allocation.
        var next: (() -> Void)?
        var afterNext: [() -> Void] = []

        mutating func takeNext() -> (() -> Void)? {
            defer { next = afterNext.isEmpty ? nil : afterNext.removeFirst() }
            return next
        }

        mutating func append(_ body: @escaping () -> Void) {
            if next == nil { next = body } else { afterNext.append(body) }
        }
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key, nil)
        precondition(result == 0, "MiniRx needs one thread-specific key, and the process has none left.")
        return key
    }()

    private static var top: UnsafeMutablePointer<Frame>? {
        pthread_getspecific(key)?.assumingMemoryBound(to: Frame.self)
    }

    private static func frame(of id: ObjectIdentifier, from top: UnsafeMutablePointer<Frame>?) -> UnsafeMutablePointer<Frame>? {
        var frame = top
        while let found = frame, found.pointee.id != id { frame = found.pointee.outer }
        return frame
    }

    /// Enters the chain or the branch `id` on this thread.
    @usableFromInline
    static func run(for id: ObjectIdentifier, _ body: () -> Void) {
        let outer = top
        guard frame(of: id, from: outer) == nil else { return body() }
        var frame = Frame(id: id, outer: outer)
        withUnsafeMutablePointer(to: &frame) { frame in
            pthread_setspecific(key, frame)
            body()
            while let next = frame.pointee.takeNext() { next() }
            pthread_setspecific(key, outer)
        }
    }

    /// Runs `body` when what runs of a chain on this thread has unwound: the start of its branch, or all of it. To be called inside of
    /// `run(for: root)`.
    @usableFromInline
    static func next(in branch: ObjectIdentifier, of root: ObjectIdentifier, _ body: @escaping () -> Void) {
        guard let frame = frame(of: branch, from: top) ?? frame(of: root, from: top) else {
            preconditionFailure("An event reached an operator outside of its chain.")
        }
        frame.pointee.append(body)
    }
}
