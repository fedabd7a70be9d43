// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that the root stays free of dependencies.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "APIProvider", path: ".."),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .executableTarget(
            name: "MiniRxBenchmarks",
            dependencies: [
                .product(name: "MiniRx", package: "APIProvider"), .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/MiniRxBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        .executableTarget(
            name: "APIProviderBenchmarks",
            dependencies: [
                .product(name: "APIProvider", package: "APIProvider"), .product(name: "MiniRx", package: "APIProvider"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/APIProviderBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        .executableTarget(
            name: "APIProviderMocksBenchmarks",
            dependencies: [
                .product(name: "APIProvider", package: "APIProvider"), .product(name: "MiniRx", package: "APIProvider"),
                .product(name: "APIProviderMocks", package: "APIProvider"), .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/APIProviderMocksBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        .executableTarget(
            name: "StreamBenchmarks",
            dependencies: [
                .product(name: "APIProvider", package: "APIProvider"), .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/StreamBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        .executableTarget(name: "ratios"),
        .executableTarget(
            name: "long-runs",
            dependencies: [
                .product(name: "APIProvider", package: "APIProvider"), .product(name: "MiniRx", package: "APIProvider"),
                .product(name: "MiniRxTesting", package: "APIProvider"),
                .product(name: "APIProviderMocks", package: "APIProvider"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
