// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "App",
    dependencies: [
        .package(name: "APIProvider", path: "../APIProvider")
    ]
)
