import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension APIResponse {
    /// Throws if a middleware made a successful response anew, without the file that has come, and without a body of its own.
    func checkFile(of download: DownloadHandoff) throws {
        guard download.hasFile, file == nil, data.isEmpty, httpResponse.isSuccessful else { return }
        let reason = "a middleware made its response anew, without the downloaded file; let it change the response that it got"
        throw APIError.transport(request, underlying: URLError(.cannotOpenFile, reason: reason))
    }

    /// Saves the body at `destination`: the downloaded file, or a new one.
    func save(to destination: URL) throws {
        do {
            if let file { try file.moveToDestination() } else { try PartialFile.replace(destination, with: data) }
        } catch {
            throw APIError.transport(request, underlying: error)
        }
    }
}

extension Error {
    /// The error without a download's file. The file is removed with the last reference, and the app may keep the error.
    func releasingFile() -> any Error {
        (self as? APIError)?.mapResponse { response in
            var response = response
            response.file = nil
            return response
        } ?? self
    }
}
