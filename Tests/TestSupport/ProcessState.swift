#if os(Linux)
import Foundation

/// How many file descriptors the process has open.
package func openDescriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }

/// How many threads the process has.
package func threadCount() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count }
#endif
