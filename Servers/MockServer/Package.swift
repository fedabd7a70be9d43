// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A package of its own, so that the root stays free of dependencies.
let package = Package(
    name: "MockServer",
    platforms: [.macOS(.v12), .iOS(.v15), .tvOS(.v15), .visionOS(.v1)],
    products: [
        .library(name: "MockServer", targets: ["MockServer"]), .executable(name: "mock-server", targets: ["mock-server"]),
    ],
    dependencies: [
        .package(name: "APIProvider", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .target(
            name: "MockServer",
            dependencies: [
                .product(name: "APIProvider", package: "APIProvider"),
                .product(name: "APIProviderTransport", package: "APIProvider"), .product(name: "MiniRx", package: "APIProvider"),
                .product(name: "APIProviderMocks", package: "APIProvider"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "mock-server",
            dependencies: [
                "MockServer", .product(name: "APIProviderMocks", package: "APIProvider"),
                .product(name: "APIProviderRecordings", package: "APIProvider"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MockServerTests",
            dependencies: [
                "MockServer", "mock-server", .product(name: "APIProvider", package: "APIProvider"),
                .product(name: "MiniRx", package: "APIProvider"), .product(name: "APIProviderMocks", package: "APIProvider"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
