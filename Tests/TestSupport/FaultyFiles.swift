#if os(Linux)
package import Foundation
import MiniRx

/// Wraps the C library's calls on files. While a test asks for it, calls on the files of one folder fail in turn.
package enum FaultyFiles {
    private static let folders = Locked<[String: Faults]>([:])
    private static let readOnly = Locked<Set<String>>([])
    private static let vanishing = Locked<Set<String>>([])
    package enum Call: Sendable { case write, synchronize }

    private static let slow = Locked<[String: (call: Call, began: Signals<Void>, goOn: DispatchSemaphore)]>([:])
    private static let interrupted = Locked<Set<Int32>>([])

    /// Runs `body`, in which each call on a file in `folder` may fail.
    ///
    /// - Returns: The result of `body`, and how many of the files are still open.
    package static func within<Result>(
        _ folder: URL, _ faults: Faults, _ body: () async throws -> Result
    ) async rethrows -> (Result, open: Int) {
        let prefix = prefix(of: folder)
        folders.withLock { $0[prefix] = faults }
        defer { folders.withLock { $0[prefix] = nil } }
        let result = try await body()
        // The thread that delivered an event may have the file in its hands.
        await eventually { openFiles(in: folder).isEmpty }
        return (result, openFiles(in: folder).count)
    }

    /// Runs `body`, in which no file in `folder` can be removed or renamed. The superuser may do it whatever the folder's mode is.
    package static func withReadOnly<Result>(_ folder: URL, _ body: () async throws -> Result) async rethrows -> Result {
        let prefix = prefix(of: folder)
        readOnly.withLock { _ = $0.insert(prefix) }
        defer { readOnly.withLock { _ = $0.remove(prefix) } }
        return try await body()
    }

    /// Runs `body`, in which each folder in `folder` is removed before it is locked.
    package static func withVanishing<Result>(_ folder: URL, _ body: () async throws -> Result) async rethrows -> Result {
        let prefix = prefix(of: folder)
        vanishing.withLock { _ = $0.insert(prefix) }
        defer { vanishing.withLock { _ = $0.remove(prefix) } }
        return try await body()
    }

    /// Runs `body`, in which the first call of one kind on a file of `folder` begins, and goes on when `goOn` is called.
    package static func withSlow(
        _ call: Call, _ folder: URL, _ body: (_ began: Signals<Void>, _ goOn: () -> Void) async throws -> Void
    ) async rethrows {
        let (prefix, began, semaphore) = (prefix(of: folder), Signals<Void>(), DispatchSemaphore(value: 0))
        slow.withLock { $0[prefix] = (call, began, semaphore) }
        try await body(began) { semaphore.signal() }
    }

    fileprivate static func waitIfSlow(_ call: Call, _ descriptor: Int32) {
        guard slow.withLock({ !$0.isEmpty }) else { return }
        let path = path(of: descriptor)
        let entry = slow.withLock { slow in
            slow.first { path.hasPrefix($0.key) && $0.value.call == call }.flatMap { slow.removeValue(forKey: $0.key) }
        }
        guard let entry else { return }
        entry.began.send(())
        entry.goOn.wait()
    }

    fileprivate static func removeIfVanishing(_ descriptor: Int32) {
        guard vanishing.withLock({ !$0.isEmpty }) else { return }
        let path = path(of: descriptor)
        if vanishing.withLock({ $0.contains { path.hasPrefix($0) } }) { _ = nextRemoveFolder(path) }
    }

    fileprivate static func isReadOnly(_ path: String) -> Bool { readOnly.withLock { $0.contains { path.hasPrefix($0) } } }

    /// The names of the files in a folder that this process has open.
    package static func openFiles(in folder: URL) -> [String] {
        let prefix = prefix(of: folder)
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.compactMap { Int32($0).map(path) }.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    /// The beginning of the paths of a folder's files.
    private static func prefix(of folder: URL) -> String { folder.resolvingSymlinksInPath().path + "/" }

    /// Whether it is the turn of a call on the file at this path to fail.
    fileprivate static func fails(_ path: @autoclosure () -> String) -> Bool {
        guard folders.withLock({ !$0.isEmpty }) else { return false }
        let path = path()
        return folders.withLock { folders in folders.first { path.hasPrefix($0.key) }?.value.isNext() ?? false }
    }

    fileprivate static func fails(_ descriptor: Int32) -> Bool { fails(path(of: descriptor)) }

    /// The path of a name in an open folder.
    fileprivate static func path(_ folder: Int32, _ name: UnsafePointer<CChar>) -> String {
        let name = String(cString: name)
        return folder == AT_FDCWD ? name : "\(path(of: folder))/\(name)"
    }

    /// Whether a signal interrupts this call: each second one on a file of the folders.
    fileprivate static func isInterrupted(_ descriptor: Int32) -> Bool {
        guard folders.withLock({ folders in folders.keys.contains { path(of: descriptor).hasPrefix($0) } }) else { return false }
        return interrupted.withLock { $0.remove(descriptor) == nil && $0.insert(descriptor).inserted }
    }

    private static func path(of descriptor: Int32) -> String {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(descriptor)", &path, path.count)
        return String(decoding: path.prefix(max(count, 0)), as: UTF8.self)
    }

    /// The call that this file replaces: Thread Sanitizer's, or the C library's.
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
private let nextOpenAt = FaultyFiles.next("openat", as: (@convention(c) (Int32, UnsafePointer<CChar>, Int32, mode_t) -> Int32).self)
private let nextRename = FaultyFiles.next(
    "rename", as: (@convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32).self)
private let nextRenameAt = FaultyFiles.next(
    "renameat", as: (@convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>) -> Int32).self)
private let nextUnlinkAt = FaultyFiles.next("unlinkat", as: (@convention(c) (Int32, UnsafePointer<CChar>, Int32) -> Int32).self)
private let nextMakeFolder = FaultyFiles.next("mkdir", as: (@convention(c) (UnsafePointer<CChar>, mode_t) -> Int32).self)
private let nextRemoveFolder = FaultyFiles.next("rmdir", as: (@convention(c) (UnsafePointer<CChar>) -> Int32).self)
private let nextChangeMode = FaultyFiles.next("fchmod", as: (@convention(c) (Int32, mode_t) -> Int32).self)
private let nextSynchronize = FaultyFiles.next("fsync", as: (@convention(c) (Int32) -> Int32).self)
private let nextTruncate = FaultyFiles.next("ftruncate", as: (@convention(c) (Int32, Int) -> Int32).self)
private let nextLock = FaultyFiles.next("flock", as: (@convention(c) (Int32, Int32) -> Int32).self)
private let nextClose = FaultyFiles.next("close", as: (@convention(c) (Int32) -> Int32).self)

private func fail<Code: SignedInteger>(_ number: Int32) -> Code {
    errno = number
    return -1
}

/// Has the symbol of Swift's `open`, which has a variable number of arguments in C.
@_silgen_name("$s5Glibc4openys5Int32VSPys4Int8VG_ADs6UInt32VtF")
func faultyOpen(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
    FaultyFiles.fails(String(cString: path)) ? fail(EMFILE) : nextOpen(path, flags, mode)
}

@_cdecl("write")
func faultyWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    FaultyFiles.waitIfSlow(.write, descriptor)
    return FaultyFiles.fails(descriptor) ? fail(ENOSPC) : nextWrite(descriptor, bytes, count)
}

/// Has the symbol of Swift's `open` without a mode.
@_silgen_name("$s5Glibc4openys5Int32VSPys4Int8VG_ADtF")
func faultyOpen(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { faultyOpen(path, flags, 0) }

/// Has the symbol of Swift's `openat` without a mode.
@_silgen_name("$s5Glibc6openatys5Int32VAD_SPys4Int8VGADtF")
func faultyOpenAt(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { faultyOpenAt(folder, path, flags, 0) }

/// Has the symbol of Swift's `openat`.
@_silgen_name("$s5Glibc6openatys5Int32VAD_SPys4Int8VGADs6UInt32VtF")
func faultyOpenAt(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
    FaultyFiles.fails(FaultyFiles.path(folder, path)) ? fail(EMFILE) : nextOpenAt(folder, path, flags, mode)
}

@_cdecl("rename")
func faultyRename(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
    FaultyFiles.isReadOnly(String(cString: new)) || FaultyFiles.fails(String(cString: new)) ? fail(EACCES) : nextRename(old, new)
}

@_cdecl("renameat")
func faultyRenameAt(_ folder: Int32, _ old: UnsafePointer<CChar>, _ other: Int32, _ new: UnsafePointer<CChar>) -> Int32 {
    let path = FaultyFiles.path(other, new)
    return FaultyFiles.isReadOnly(path) || FaultyFiles.fails(path) ? fail(EACCES) : nextRenameAt(folder, old, other, new)
}

@_cdecl("unlinkat")
func faultyUnlinkAt(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
    let text = FaultyFiles.path(folder, path)
    return FaultyFiles.isReadOnly(text) || FaultyFiles.fails(text) ? fail(EACCES) : nextUnlinkAt(folder, path, flags)
}

@_cdecl("mkdir")
func faultyMakeFolder(_ path: UnsafePointer<CChar>, _ mode: mode_t) -> Int32 {
    FaultyFiles.fails(String(cString: path)) ? fail(ENOSPC) : nextMakeFolder(path, mode)
}

@_cdecl("rmdir")
func faultyRemoveFolder(_ path: UnsafePointer<CChar>) -> Int32 {
    FaultyFiles.isReadOnly(String(cString: path)) || FaultyFiles.fails(String(cString: path)) ? fail(EACCES) : nextRemoveFolder(path)
}

@_cdecl("fchmod")
func faultyChangeMode(_ descriptor: Int32, _ mode: mode_t) -> Int32 {
    FaultyFiles.fails(descriptor) ? fail(EPERM) : nextChangeMode(descriptor, mode)
}

/// A signal interrupts each first call.
@_cdecl("fsync")
func faultySynchronize(_ descriptor: Int32) -> Int32 {
    FaultyFiles.waitIfSlow(.synchronize, descriptor)
    if FaultyFiles.isInterrupted(descriptor) { return fail(EINTR) }
    return FaultyFiles.fails(descriptor) ? fail(EIO) : nextSynchronize(descriptor)
}

@_cdecl("ftruncate")
func faultyTruncate(_ descriptor: Int32, _ length: Int) -> Int32 {
    FaultyFiles.fails(descriptor) ? fail(EIO) : nextTruncate(descriptor, length)
}

@_cdecl("flock")
func faultyLock(_ descriptor: Int32, _ operation: Int32) -> Int32 {
    FaultyFiles.removeIfVanishing(descriptor)
    return FaultyFiles.fails(descriptor) ? fail(ENOLCK) : nextLock(descriptor, operation)
}

/// Closes the file also where it fails, as Linux does.
@_cdecl("close")
func faultyClose(_ descriptor: Int32) -> Int32 {
    let fails = FaultyFiles.fails(descriptor)
    let result = nextClose(descriptor)
    return fails ? fail(EIO) : result
}
#endif
