// swift-tools-version: 6.1
import PackageDescription

// A separate package, because it is built for libFuzzer alone: see `run`.
let package = Package(
    name: "FuzzTests",
    platforms: [.macOS(.v12)],
    dependencies: [.package(name: "APIProvider", path: "../..")],
    targets: [
        .executableTarget(
            name: "stream-fuzz",
            dependencies: [
                .product(name: "APIProvider", package: "APIProvider"), .product(name: "APIProviderTransport", package: "APIProvider"),
                .product(name: "APIProviderMocks", package: "APIProvider"),
                .product(name: "APIProviderRecordings", package: "APIProvider"),
            ],
            path: "Sources")
    ],
    swiftLanguageModes: [.v6]
)
