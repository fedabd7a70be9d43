import Foundation

func send(_ request: URLRequest) {}  // error: cannot find type 'URLRequest' in scope

func answer(_ url: URL) {
    // error: 'HTTPURLResponse' (aka 'AnyObject') cannot be constructed because it has no accessible initializers
    _ = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
}

// error: 'URLSessionConfiguration' is unavailable: This type has moved to the FoundationNetworking module
func makeSession(_ configuration: URLSessionConfiguration) {}
