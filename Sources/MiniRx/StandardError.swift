#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Where what is for people goes, so that it does not mix with what a program prints.
package enum StandardError {
    /// Prints `text` and a line break in one call, so that what several threads print stays whole.
    package static func print(_ text: String) {
        // What standard error does not take is nobody's to report.
        _ = Array("\(text)\n".utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
}
