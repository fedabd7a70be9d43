package import Foundation

/// A program's `User-Agent` (RFC 9110, section 10.1.5).
package enum UserAgent {
    static let ofThisProcess = text(info: Bundle.main.infoDictionary ?? [:], process: .processInfo)

    /// `Stars/1.2 (iOS 17.5.1) APIProvider`
    package static func text(info: [String: Any], process: ProcessInfo) -> String {
        let names = [info["CFBundleName"] as? String, info["CFBundleExecutable"] as? String, process.processName]
        let name = names.lazy.compactMap { $0?.asToken }.first ?? "App"
        let version = (info["CFBundleShortVersionString"] as? String)?.asToken.map { "/\($0)" } ?? ""
        let system = process.operatingSystemVersion
        return "\(name)\(version) (\(platform) \(system.majorVersion).\(system.minorVersion).\(system.patchVersion)) APIProvider"
    }

    private static var platform: String {
        #if os(iOS)
        "iOS"
        #elseif os(macOS)
        "macOS"
        #elseif os(tvOS)
        "tvOS"
        #elseif os(watchOS)
        "watchOS"
        #elseif os(visionOS)
        "visionOS"
        #elseif os(Android)
        "Android"
        #else
        "Linux"
        #endif
    }
}

extension String {
    /// The text with hyphens in place of characters invalid in a token (RFC 9110, section 5.6.2); `nil` if nothing is left.
    fileprivate var asToken: String? {
        let token = split { !String($0).isToken }.joined(separator: "-")
        return token.isEmpty ? nil : token
    }
}
