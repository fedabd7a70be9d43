import Foundation
import TestSupport
import Testing

@testable import APIProvider

@Suite("What Apple's systems ask of the code, as far as it shows elsewhere", tenMinutes)
struct AppleSystemsTests {
    @Test("No session has a cache, so CacheMiddleware is the only one", arguments: [URLSessionConfiguration.default, .ephemeral])
    func cache(configuration: URLSessionConfiguration) {
        configuration.urlCache = URLCache(memoryCapacity: 1_000_000, diskCapacity: 0, diskPath: nil)
        #expect(configuration.forTransport().urlCache == nil)
        #expect(configuration.forTransport().forStreams().urlCache == nil)
    }

    @Test("The session that streams share has a connection for each, and the one of other requests keeps its limit")
    func connections() {
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = 3
        #expect(configuration.forTransport().httpMaximumConnectionsPerHost == 3)
        #expect(configuration.forTransport().forStreams().httpMaximumConnectionsPerHost >= 10_000)
    }

    @Test(
        "A wait is whole milliseconds that fit an Int of 32 bits, and never too short",
        arguments: [
            (0, 0), (-1, 0), (.nan, 0), (1e-9, 1), (0.0005, 1), (0.001, 1), (0.0011, 2), (2.007, 2007), (0.1 + 0.1 + 0.1, 300), (1.5, 1500),
            (2.5, 2500),
            (60, 60_000), (1e6, 1_000_000_000), (365 * 86_400, 2_147_483_647), (1e300, 2_147_483_647), (.infinity, 2_147_483_647),
        ] as [(Double, Int)])
    func wait(seconds: Double, milliseconds: Int) {
        #expect(DispatchTimeInterval(seconds: seconds) == .milliseconds(milliseconds))
    }

    /// An `Int` of 32 bits, as in an Apple Watch up to Series 8, holds two seconds of nanoseconds, and dates up to 2038.
    private static let tooMuchForInt = [
        #"\.(nano|micro)seconds\((?!0\)|let )"#, #"\bInt\([^"]*([nN]anoseconds|1e[69]\b|1_000_000_000)"#, #"\* 24\b"#,
        #"\bInt\([a-z.]*(st_size|tv_sec|timeIntervalSince\w+|bodyLength)\b(?! / )"#,
        #"\bInt = \d+_\d{3}_\d{3}_\d{3}"#,
    ]

    @Test(
        "The rule for times and sizes finds what an Int of 32 bits does not hold",
        arguments: [
            ".nanoseconds(Int(max(0, min(request.timeoutInterval, 1e6)) * 1e9))", ".nanoseconds(delay)", "Int(seconds * 1e9)",
            "TimeInterval(((count * 24 + hours) * 60 + minutes) * 60)", "Int(date.timeIntervalSince1970)", "Int(status.st_size)",
            "let limit: Int = 3_000_000_000",
        ])
    func tooMuch(line: String) { #expect(Self.tooMuchForInt.contains { line.range(of: $0, options: .regularExpression) != nil }) }

    @Test("No time in nanoseconds, and no date or size of a file, goes into an Int")
    func intOf32Bits() throws {
        // The virtual clock counts nanoseconds in a UInt64. It and the demo run where tests do.
        let files = try PackageFile.files(below: "Sources", withExtensions: "swift").filter { !$0.path.contains("github-demo/") }
        #expect(files.count > 100)
        for file in files {
            for line in file.text.components(separatedBy: "\n") where !line.contains("//") {
                let isTooMuch = Self.tooMuchForInt.contains { line.range(of: $0, options: .regularExpression) != nil }
                #expect(!isTooMuch, "\(file.path): \(line)")
            }
        }
    }

    /// The C functions and properties of files for which the App Store asks for a reason.
    private static let fileTimestamps =
        #"\b(l|f)?stat\([^)]|\bfstatat\(|\bgetattrlist|attributesOfItem|[cC]reationDate|odificationDate"#
    private static let others = #"systemUptime|mach_absolute_time|UserDefaults|statv?fs\(|volumeAvailableCapacity|systemFreeSize"#

    @Test(
        "A module that reads timestamps or sizes of files says so in its privacy manifest, and none needs another reason",
        arguments: ["MiniRx", "APIProvider", "ResponseCache", "MockNetwork", "MockNetworkTesting"])
    func privacy(module: String) throws {
        let code = try PackageFile.files(below: "Sources/\(module)", withExtensions: "swift").map(\.text).joined()
        #expect(code.range(of: Self.others, options: .regularExpression) == nil)
        let url = PackageFile.root.appendingPathComponent("Sources/\(module)/PrivacyInfo.xcprivacy")
        guard code.range(of: Self.fileTimestamps, options: .regularExpression) != nil else {
            #expect(!FileManager.default.fileExists(atPath: url.path))
            return
        }
        let manifest = try PropertyListDecoder().decode(PrivacyManifest.self, from: Data(contentsOf: url))
        #expect(!manifest.NSPrivacyTracking && manifest.NSPrivacyTrackingDomains.isEmpty && manifest.NSPrivacyCollectedDataTypes.isEmpty)
        let types = manifest.NSPrivacyAccessedAPITypes
        #expect(types.map(\.NSPrivacyAccessedAPIType) == ["NSPrivacyAccessedAPICategoryFileTimestamp"])
        #expect(types.first?.NSPrivacyAccessedAPITypeReasons.contains("C617.1") == true)
    }

    private struct PrivacyManifest: Decodable {
        struct Accessed: Decodable {
            let NSPrivacyAccessedAPIType: String
            let NSPrivacyAccessedAPITypeReasons: [String]
        }

        let NSPrivacyTracking: Bool
        let NSPrivacyTrackingDomains: [String]
        let NSPrivacyCollectedDataTypes: [String]
        let NSPrivacyAccessedAPITypes: [Accessed]
    }
}
