import APIProvider
import Foundation

#if canImport(Security)
import Security

private final class Pinning: NSObject, URLSessionDelegate {
    private let certificates: Set<Data>

    init(certificates: Set<Data>) { self.certificates = certificates }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let trust = challenge.protectionSpace.serverTrust else { return completionHandler(.performDefaultHandling, nil) }
        let leaf = (SecTrustCopyCertificateChain(trust) as? [SecCertificate])?.first
        guard SecTrustEvaluateWithError(trust, nil), let leaf, certificates.contains(SecCertificateCopyData(leaf) as Data) else {
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: trust))
    }
}

private func pinned(_ certificate: URL) throws -> DefaultAPIProvider {
    let pinning = Pinning(certificates: [try Data(contentsOf: certificate)])
    let session = URLSession(configuration: .default, delegate: pinning, delegateQueue: nil)
    return DefaultAPIProvider(baseURL: URL(string: "https://api.example.com"), session: session)
}
#endif
