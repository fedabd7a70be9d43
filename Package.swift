// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]
// Apps may set the flag, too: a file imports what it uses.
let sourceSettings = settings + [.enableUpcomingFeature("MemberImportVisibility")]

let package = Package(
    name: "APIProvider",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "MiniRx", targets: ["MiniRx"]),
        .library(name: "MiniRxTesting", targets: ["MiniRxTesting"]),
        .library(name: "APIProviderTransport", targets: ["APIProviderTransport"]),
        .library(name: "APIProvider", targets: ["APIProvider"]),
        .library(name: "APIProviderCache", targets: ["APIProviderCache"]),
        .library(name: "APIProviderMocks", targets: ["APIProviderMocks"]),
        .library(name: "APIProviderRecordings", targets: ["APIProviderRecordings"]),
        .library(name: "APIProviderTesting", targets: ["APIProviderTesting"]),
        .library(name: "APIProviderRecordingTesting", targets: ["APIProviderRecordingTesting"]),
    ],
    targets: [
        .target(name: "MiniRx", swiftSettings: sourceSettings),
        .target(name: "MiniRxTesting", dependencies: ["MiniRx"], swiftSettings: sourceSettings),
        .target(name: "APIProviderTransport", dependencies: ["MiniRx"], swiftSettings: sourceSettings),
        .target(name: "APIProvider", dependencies: ["APIProviderTransport", "MiniRx"], swiftSettings: sourceSettings),
        .target(name: "APIProviderCache", dependencies: ["APIProvider", "MiniRx"], swiftSettings: sourceSettings),
        .target(name: "APIProviderMocks", dependencies: ["APIProvider", "MiniRx"], swiftSettings: sourceSettings),
        .target(name: "APIProviderRecordings", dependencies: ["APIProviderMocks", "APIProvider", "MiniRx"], swiftSettings: sourceSettings),
        .target(
            name: "APIProviderTesting", dependencies: ["APIProviderMocks", "APIProvider", "MiniRx", "MiniRxTesting"],
            swiftSettings: sourceSettings),
        .target(
            name: "APIProviderRecordingTesting",
            dependencies: ["APIProviderTesting", "APIProviderRecordings", "APIProviderMocks", "APIProvider", "MiniRx"],
            swiftSettings: sourceSettings),
        .target(name: "GitHubAPI", dependencies: ["APIProvider", "MiniRx"], path: "Examples/GitHubAPI", swiftSettings: sourceSettings),
        .executableTarget(
            name: "github-demo",
            dependencies: ["GitHubAPI", "APIProvider", "MiniRx", "APIProviderMocks", "APIProviderRecordings", "Fixtures"],
            path: "Examples/github-demo", swiftSettings: settings),
        .target(
            name: "Fixtures", dependencies: ["APIProviderMocks"], path: "Fixtures", resources: [.copy("GitHub")],
            swiftSettings: sourceSettings),
        .executableTarget(
            name: "documentation-pictures",
            dependencies: ["APIProvider", "MiniRx", "MiniRxTesting", "APIProviderMocks", "APIProviderCache", "github-demo"],
            path: "Documentation/Pictures", swiftSettings: settings),

        .target(name: "TestSupport", dependencies: ["MiniRx", "MiniRxTesting"], path: "Tests/TestSupport", swiftSettings: sourceSettings),
        .testTarget(name: "MiniRxTests", dependencies: ["MiniRx", "TestSupport"], swiftSettings: settings),
        // Code that was written for RxSwift, in the language mode that most of it has, and without settings.
        .testTarget(name: "SourceCompatibilityTests", dependencies: ["MiniRx", "MiniRxTesting"], swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "APIProviderTests", dependencies: ["APIProvider", "APIProviderTransport", "MiniRx", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "APIProviderCacheTests",
            dependencies: ["APIProviderCache", "APIProviderMocks", "APIProviderTesting", "APIProvider", "MiniRx", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "APIProviderMocksTests",
            dependencies: ["APIProviderMocks", "APIProviderTesting", "APIProvider", "MiniRx", "Fixtures", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "APIProviderRecordingsTests",
            dependencies: ["APIProviderRecordings", "APIProviderMocks", "APIProvider", "MiniRx", "TestSupport"],
            resources: [.copy("HAR")], swiftSettings: settings),
        .testTarget(
            name: "GitHubAPITests",
            dependencies: ["GitHubAPI", "APIProvider", "MiniRx", "APIProviderMocks", "APIProviderTesting", "Fixtures", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "DemoTests", dependencies: ["github-demo", "GitHubAPI", "APIProvider", "Fixtures", "TestSupport"], swiftSettings: settings
        ),
        .plugin(name: "CodeOfPages", capability: .buildTool(), path: "Tests/PageCode", sources: ["CodeOfPages.swift"]),
        .target(
            name: "PageNames",
            dependencies: [
                "GitHubAPI", "APIProvider", "APIProviderCache", "MiniRx", "APIProviderMocks", "APIProviderRecordings", "Fixtures",
                "TestSupport",
            ],
            path: "Tests/PageNames", swiftSettings: sourceSettings),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "GitHubAPI", "APIProvider", "APIProviderCache", "MiniRx", "APIProviderMocks", "APIProviderRecordings", "APIProviderTesting",
                "APIProviderRecordingTesting", "Fixtures", "TestSupport", "PageNames",
            ],
            resources: [.process("Fixtures")], swiftSettings: settings, plugins: ["CodeOfPages"]),
    ],
    swiftLanguageModes: [.v6]
)

#if compiler(>=6.2)
// As new Xcode projects are. The flag stands here for `.defaultIsolation(MainActor.self)`, which needs tools 6.2; no product holds a test.
package.targets.append(
    .testTarget(
        name: "MainActorTests", dependencies: ["APIProvider", "MiniRx", "TestSupport"],
        swiftSettings: settings + [.unsafeFlags(["-default-isolation", "MainActor"])]))
#endif
