package import Foundation

/// The URL of requests that never reach a network.
package let example: URL = {
    guard let url = URL(string: "https://api.example.com") else { preconditionFailure("It is a URL.") }
    return url
}()
