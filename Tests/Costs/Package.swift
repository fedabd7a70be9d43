// swift-tools-version: 6.1
import PackageDescription

// A package of its own, because it is built for release: see `run`.
let package = Package(
    name: "Costs",
    platforms: [.macOS(.v12)],
    dependencies: [.package(name: "APIProvider", path: "../..")],
    targets: [
        .executableTarget(
            name: "costs",
            dependencies: ["APIProvider", "MiniRx", "APIProviderMocks", "APIProviderCache"].map {
                .product(name: $0, package: "APIProvider")
            },
            path: "Sources")
    ],
    swiftLanguageModes: [.v6]
)
