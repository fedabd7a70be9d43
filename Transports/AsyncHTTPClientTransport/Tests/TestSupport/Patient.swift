#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension URLSessionConfiguration {
    /// An ephemeral configuration without a timeout that may fire on a busy machine.
    package static var patient: URLSessionConfiguration {
        let configuration = ephemeral
        configuration.timeoutIntervalForRequest = 600
        #if !canImport(FoundationNetworking)
        // Tests/FirstRunOnAMac asks what the newer loader does.
        if ProcessInfo.processInfo.environment["NEWER_LOADER"] != nil,
            #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
        {
            configuration.usesClassicLoadingMode = false
        }
        #endif
        return configuration
    }
}
