package import FoundationNetworking

extension URLSessionTaskDelegate {
    /// As Apple documents it. Linux has no such method.
    package func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}
}
