// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "App",
    platforms: [.iOS(.v15), .macOS(.v12)],
    dependencies: [.package(name: "APIProvider", path: "../APIProvider")],
    targets: [
        .target(
            name: "App",
            dependencies: [
                .product(name: "APIProvider", package: "APIProvider"), .product(name: "MiniRx", package: "APIProvider"),
            ]),
        .testTarget(
            name: "AppTests",
            dependencies: [
                "App", .product(name: "MockNetwork", package: "APIProvider"),
                .product(name: "MockNetworkTesting", package: "APIProvider"),
            ],
            resources: [.process("Fixtures")]),
    ]
)
