// What `import Foundation` gives on Apple's systems: C, and URL loading along with the rest.
@_exported public import AppleDarwin
@_exported public import Foundation
@_exported public import FoundationNetworking

#if canImport(FoundationNetworking) || !canImport(Darwin) || os(Linux)
#error("The conditions are not turned round.")
#endif
