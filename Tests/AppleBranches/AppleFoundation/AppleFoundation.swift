// On Apple's systems, `import Foundation` also imports C and URL loading.
@_exported public import AppleDarwin
@_exported public import Foundation
@_exported public import FoundationNetworking

#if canImport(FoundationNetworking) || !canImport(Darwin) || os(Linux)
#error("The conditions are not turned round.")
#endif
