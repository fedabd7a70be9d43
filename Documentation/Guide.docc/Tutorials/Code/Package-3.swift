// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "GitHubSearch",
    platforms: [.iOS(.v17), .macOS(.v14)],
    dependencies: [
        .package(name: "APIProvider", path: "../APIProvider")
    ],
    targets: [
        .executableTarget(
            name: "GitHubSearch",
            dependencies: [.product(name: "APIProvider", package: "APIProvider")]),
        .testTarget(
            name: "GitHubSearchTests",
            dependencies: [
                "GitHubSearch",
                .product(name: "APIProviderTesting", package: "APIProvider"),
                .product(name: "APIProviderRecordingTesting", package: "APIProvider"),
            ],
            exclude: ["Recordings"],
            resources: [.process("Fixtures")]),
    ]
)
