// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A package of its own, so that the root stays free of dependencies.
let package = Package(
    name: "AsyncHTTPClientTransport",
    platforms: [.macOS(.v12), .iOS(.v15), .tvOS(.v15), .watchOS(.v9), .visionOS(.v1)],
    products: [.library(name: "AsyncHTTPClientTransport", targets: ["AsyncHTTPClientTransport"])],
    dependencies: [
        .package(name: "APIProvider", path: "../.."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        // For a test of the guide's recipe. AsyncHTTPClient depends on it, too.
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
    ],
    targets: [
        .target(
            name: "AsyncHTTPClientTransport",
            dependencies: [
                .product(name: "APIProviderTransport", package: "APIProvider"), .product(name: "MiniRx", package: "APIProvider"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "transport-benchmarks",
            dependencies: [
                "AsyncHTTPClientTransport", .product(name: "APIProvider", package: "APIProvider"),
                .product(name: "MiniRx", package: "APIProvider"), .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        // Links to the suites of the root package, which run here against this transport.
        .target(
            name: "TestSupport", dependencies: [.product(name: "MiniRx", package: "APIProvider")], path: "Tests/TestSupport",
            swiftSettings: settings),
        .testTarget(
            name: "AsyncHTTPClientTransportTests",
            dependencies: [
                "AsyncHTTPClientTransport", "TestSupport", .product(name: "APIProvider", package: "APIProvider"),
                .product(name: "APIProviderTransport", package: "APIProvider"), .product(name: "MiniRxTesting", package: "APIProvider"),
                .product(name: "MiniRx", package: "APIProvider"), .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "X509", package: "swift-certificates"),
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            swiftSettings: settings),
        // Middlewares as somebody else writes them, from public names alone.
        .testTarget(
            name: "OutsideTests",
            dependencies: [
                .product(name: "APIProvider", package: "APIProvider"), .product(name: "MiniRx", package: "APIProvider"),
                .product(name: "MiniRxTesting", package: "APIProvider"), .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
