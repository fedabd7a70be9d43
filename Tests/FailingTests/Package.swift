// swift-tools-version: 6.1
import PackageDescription

// A separate package, because its tests are to fail: see `run`.
let package = Package(
    name: "FailingTests",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v9), .visionOS(.v1)],
    dependencies: [.package(name: "APIProvider", path: "../..")],
    targets: [
        .testTarget(
            name: "FailingTests",
            dependencies: [
                .product(name: "APIProvider", package: "APIProvider"), .product(name: "APIProviderMocks", package: "APIProvider"),
                .product(name: "APIProviderTesting", package: "APIProvider"),
                .product(name: "APIProviderRecordingTesting", package: "APIProvider"),
            ],
            path: "Tests")
    ],
    swiftLanguageModes: [.v6]
)
