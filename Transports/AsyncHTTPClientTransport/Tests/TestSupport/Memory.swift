#if os(Linux)
import Foundation

/// The process's memory now, as the kernel counts it.
package func residentKilobytes() throws -> Int { try kilobytes("VmRSS:") }

/// The most memory that the process has had.
package func peakKilobytes() throws -> Int { try kilobytes("VmHWM:") }

private func kilobytes(_ name: String) throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
    return lines.first { $0.hasPrefix(name) }.flatMap { Int($0.filter(\.isNumber)) } ?? 0
}
#endif
