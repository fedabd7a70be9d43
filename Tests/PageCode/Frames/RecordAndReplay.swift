private typealias RecordAndReplay = MockNetworkTrait
