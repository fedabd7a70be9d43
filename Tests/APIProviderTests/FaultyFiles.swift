#if os(Linux)
import Foundation
import MiniRx
import TestSupport

/// Stands before the C library's calls on files. While a test asks for it, those on the files of one folder fail in turn.
enum FaultyFiles {
    private struct State {
        let faults: Faults
        let folder: String
        var open: Set<Int32> = []
    }

    private static let state = Locked<State?>(nil)

    /// Runs `body`, in which each call on a file in `folder` may fail.
    ///
    /// - Returns: The result of `body`, and how many of the files are still open.
    static func within<Result>(_ folder: URL, _ faults: Faults, _ body: () async throws -> Result) async rethrows -> (Result, open: Int) {
        state.withLock { $0 = State(faults: faults, folder: folder.path) }
        let result = try await body()
        // The thread that delivered an event may have the file in its hands.
        let deadline = DispatchTime.now() + 60
        while state.withLock({ $0?.open.isEmpty == false }), DispatchTime.now() < deadline { await Task.yield() }
        return (result, state.withLock { $0.take()?.open.count } ?? 0)
    }

    fileprivate static func fails(_ path: UnsafePointer<CChar>) -> Bool {
        state.withLock { $0 }.map { String(cString: path).hasPrefix($0.folder) && $0.faults.isNext() } ?? false
    }

    fileprivate static func fails(_ descriptor: Int32) -> Bool {
        state.withLock { state in
            guard let state, state.open.contains(descriptor) else { return false }
            return state.faults.isNext()
        }
    }

    fileprivate static func opened(_ path: UnsafePointer<CChar>, as descriptor: Int32) {
        state.withLock { state in
            guard descriptor >= 0, let folder = state?.folder, String(cString: path).hasPrefix(folder) else { return }
            state?.open.insert(descriptor)
        }
    }

    fileprivate static func duplicated(_ descriptor: Int32, as copy: Int32) {
        state.withLock { state in
            if copy >= 0, state?.open.contains(descriptor) == true { state?.open.insert(copy) }
        }
    }

    fileprivate static func closed(_ descriptor: Int32) { state.withLock { _ = $0?.open.remove(descriptor) } }

    /// The call that stands behind the one of this file: Thread Sanitizer's, or the C library's.
    fileprivate static func next<Function>(_ name: String, as type: Function.Type) -> Function {
        let call = ["___interceptor_", "__interceptor_"].lazy.compactMap { dlsym(nil, $0 + name) }.first ?? dlsym(behind, name)
        guard let call else { fatalError("There is no \(name).") }
        return unsafeBitCast(call, to: type)
    }

    /// RTLD_NEXT, which Swift does not import.
    private static var behind: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: -1) }
}

private let nextOpen = FaultyFiles.next("open", as: (@convention(c) (UnsafePointer<CChar>, Int32, mode_t) -> Int32).self)
private let nextWrite = FaultyFiles.next("write", as: (@convention(c) (Int32, UnsafeRawPointer?, Int) -> Int).self)
private let nextRename = FaultyFiles.next(
    "rename", as: (@convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32).self)
private let nextChangeMode = FaultyFiles.next("fchmod", as: (@convention(c) (Int32, mode_t) -> Int32).self)
private let nextDuplicate = FaultyFiles.next("dup", as: (@convention(c) (Int32) -> Int32).self)
private let nextClose = FaultyFiles.next("close", as: (@convention(c) (Int32) -> Int32).self)

private func fail<Code: SignedInteger>(_ number: Int32) -> Code {
    errno = number
    return -1
}

/// What Swift's `open` is called in an object file: it has a variable number of arguments in C.
@_silgen_name("$s5Glibc4openys5Int32VSPys4Int8VG_ADs6UInt32VtF")
func faultyOpen(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
    if FaultyFiles.fails(path) { return fail(EMFILE) }
    let descriptor = nextOpen(path, flags, mode)
    FaultyFiles.opened(path, as: descriptor)
    return descriptor
}

@_cdecl("write")
func faultyWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    FaultyFiles.fails(descriptor) ? fail(ENOSPC) : nextWrite(descriptor, bytes, count)
}

@_cdecl("rename")
func faultyRename(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
    FaultyFiles.fails(new) ? fail(EACCES) : nextRename(old, new)
}

@_cdecl("fchmod")
func faultyChangeMode(_ descriptor: Int32, _ mode: mode_t) -> Int32 {
    FaultyFiles.fails(descriptor) ? fail(EPERM) : nextChangeMode(descriptor, mode)
}

@_cdecl("dup")
func faultyDuplicate(_ descriptor: Int32) -> Int32 {
    if FaultyFiles.fails(descriptor) { return fail(EMFILE) }
    let copy = nextDuplicate(descriptor)
    FaultyFiles.duplicated(descriptor, as: copy)
    return copy
}

/// Closes the file also where it fails, as Linux does.
@_cdecl("close")
func faultyClose(_ descriptor: Int32) -> Int32 {
    let fails = FaultyFiles.fails(descriptor)
    FaultyFiles.closed(descriptor)
    let result = nextClose(descriptor)
    return fails ? fail(EIO) : result
}
#endif
