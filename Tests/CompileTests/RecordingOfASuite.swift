import APIProviderRecordingTesting
import Testing

// A recording is one test's: on a suite, its second test would fail.
@Suite(.mockNetwork(recording: "page"))  // error: requires the conformance of 'RecordingTrait' to 'SuiteTrait'
struct RecordingOfASuite {
    @Test(.mockNetwork(recording: "page")) func page() {}

    @Test(.mockNetwork(recording: "orders", .shop)) func orders() {}
    @Test(.mockNetwork(recording: .shop)) func cart() {}
}

extension RecordingOptions {
    static let shop = RecordingOptions(hiding: ["card"])
}
