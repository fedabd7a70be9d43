package import FoundationNetworking

extension URLSessionConfiguration {
    /// As Apple documents it. On Linux it is marked as unavailable.
    package static func background(withIdentifier identifier: String) -> URLSessionConfiguration { .default }
}
