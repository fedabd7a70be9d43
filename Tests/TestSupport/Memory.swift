#if os(Linux)
import Foundation

/// The process's memory now, as the kernel counts it.
package func residentKilobytes() throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
    return lines.first { $0.hasPrefix("VmRSS:") }.flatMap { Int($0.filter(\.isNumber)) } ?? 0
}
#endif
