// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault")]
let package = Package(
    name: "APIProvider",
    targets: [
        .target(name: "MiniRx", swiftSettings: settings),
        .target(name: "APIProvider", dependencies: ["MiniRx"], swiftSettings: settings),
        .target(name: "TestSupport", dependencies: ["MiniRx"], path: "Tests/TestSupport", swiftSettings: settings),
        .testTarget(name: "MiniRxTests", dependencies: ["MiniRx", "TestSupport"], swiftSettings: settings),
        .testTarget(name: "APIProviderTests", dependencies: ["APIProvider", "MiniRx", "TestSupport"], swiftSettings: settings),
    ], swiftLanguageModes: [.v6])
