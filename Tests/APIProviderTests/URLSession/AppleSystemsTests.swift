import Foundation
import TestSupport
import Testing

@testable import APIProvider
@testable import APIProviderTransport

@Suite("Rules of Apple's systems that can be tested on Linux", tenMinutes)
struct AppleSystemsTests {
    @Test("No session has a cache, and only the session of streams has more connections than the configuration says")
    func sessions() {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
        configuration.httpMaximumConnectionsPerHost = 3
        let (whole, streams) = (configuration.forTransport(), configuration.forTransport().forStreams())
        #expect(whole.urlCache == nil && streams.urlCache == nil)
        #expect(whole.httpMaximumConnectionsPerHost == 3)
        #expect(streams.httpMaximumConnectionsPerHost >= 10_000)
    }

    @Test(
        "A wait is whole milliseconds that fit an Int of 32 bits, and never too short",
        arguments: [
            (-1, 0), (.nan, 0), (1e-9, 1), (0.001, 1), (0.0011, 2), (2.007, 2007), (0.1 + 0.1 + 0.1, 300), (1e6, 1_000_000_000),
            (365 * 86_400, 2_147_483_647), (1e300, 2_147_483_647), (.infinity, 2_147_483_647),
        ] as [(Double, Int)])
    func wait(seconds: Double, milliseconds: Int) {
        #expect(DispatchTimeInterval(seconds: seconds) == .milliseconds(milliseconds))
    }

    /// An `Int` of 32 bits, as in an Apple Watch up to Series 8, holds two seconds of nanoseconds, and dates up to 2038.
    private static func isTooMuchForInt(_ line: String) -> Bool {
        let pattern = [
            #"\.(nano|micro)seconds\((?!0\)|let )"#, #"\bInt\([^"]*([nN]anoseconds|1e[69]\b|1_000_000_000)"#, #"\* 24\b"#,
            #"\bInt\([a-z.]*(st_size|tv_sec|timeIntervalSince\w+|bodyLength)\b(?! / )"#, #"\bInt = \d+_\d{3}_\d{3}_\d{3}"#,
        ].joined(separator: "|")
        return line.range(of: pattern, options: .regularExpression) != nil
    }

    @Test("No time in nanoseconds, and no date or size of a file, goes into an Int")
    func intOf32Bits() throws {
        for line in [
            ".nanoseconds(delay)", "Int(seconds * 1e9)", "TimeInterval(((count * 24 + hours) * 60 + minutes) * 60)",
            "Int(date.timeIntervalSince1970)", "Int(status.st_size)", "let limit: Int = 3_000_000_000",
        ] { #expect(Self.isTooMuchForInt(line)) }
        // The virtual clock counts nanoseconds in a UInt64. It and the demo run where tests do.
        let files = try ["Sources", "Examples/GitHubAPI"].flatMap { try PackageFile.files(below: $0, withExtensions: "swift") }
        #expect(files.count > 100)
        for file in files {
            for line in file.text.components(separatedBy: "\n") where !line.contains("//") {
                #expect(!Self.isTooMuchForInt(line), "\(file.path): \(line)")
            }
        }
    }

    @Test(
        "A module that reads timestamps or sizes of files says so in its privacy manifest, and none needs another reason",
        arguments: try PackageFile.modules())
    func privacy(module: String) throws {
        let code = try PackageFile.files(below: "Sources/\(module)", withExtensions: "swift").map(\.text).joined()
        func uses(_ pattern: String) -> Bool { code.range(of: pattern, options: .regularExpression) != nil }
        // The C functions and properties for which the App Store asks for a reason.
        #expect(!uses(#"systemUptime|mach_absolute_time|UserDefaults|statv?fs\(|volumeAvailableCapacity|systemFreeSize"#))
        let url = PackageFile.root.appendingPathComponent("Sources/\(module)/PrivacyInfo.xcprivacy")
        guard uses(#"\b(l|f)?stat\([^)]|\bfstatat\(|\bgetattrlist|attributesOfItem|[cC]reationDate|odificationDate"#) else {
            #expect(!FileManager.default.fileExists(atPath: url.path))
            return
        }
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
        let manifest = try #require(list as? [String: Any])
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        for name in ["NSPrivacyTrackingDomains", "NSPrivacyCollectedDataTypes"] { #expect((manifest[name] as? [Any])?.isEmpty == true) }
        let types = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        #expect(types.map { $0["NSPrivacyAccessedAPIType"] as? String } == ["NSPrivacyAccessedAPICategoryFileTimestamp"])
        #expect((types.first?["NSPrivacyAccessedAPITypeReasons"] as? [String])?.contains("C617.1") == true)
    }
}
