package import FoundationNetworking

extension URLSessionConfiguration {
    /// As Apple documents it. On Linux it is marked as unavailable.
    package static func background(withIdentifier identifier: String) -> URLSessionConfiguration { .default }

    /// As Apple documents it. Linux has only the classic loader.
    @available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *)
    package var usesClassicLoadingMode: Bool {
        get { true }
        set {}
    }
}
