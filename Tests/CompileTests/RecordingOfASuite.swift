import APIProviderRecordingTesting
import Testing

// A recording is one test's: on a suite, its second test would fail. The compiler also says so at the end of the suite.
@Suite(.mockNetwork(recording: "page"))  // error: is unavailable: A recording is one test's. Write the trait at each test.
struct RecordingOfASuite {
    @Test(.mockNetwork(recording: "page")) func page() {}

    @Test(.mockNetwork(recording: "orders", .shop)) func orders() {}
    @Test(.mockNetwork(recording: .shop)) func cart() {}
}  // error: is unavailable: A recording is one test's. Write the trait at each test.

@Suite(.mockNetwork(recording: .shop))  // error: is unavailable: A recording is one test's. Write the trait at each test.
struct RecordingOfASuiteByOptions {
    @Test func page() {}
}  // error: is unavailable: A recording is one test's. Write the trait at each test.

extension RecordingOptions {
    static let shop = RecordingOptions(hiding: ["card"])
}
